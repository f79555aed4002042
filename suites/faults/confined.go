package faults

import (
	"fmt"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
)

// scenariosOfRound are the scenarios of a round. A fault of the whole cluster has its simulator, and so its cluster, to
// itself. All others are in one simulator side by side, each in the namespaces of the scenarios that are to catch it;
// and beside them the same scenarios run without any, to show that nothing but the fault makes them fail.
func (r runner) scenariosOfRound(trials []*trial, round []chosen, n int, took timings) []*scenarios.Scenario {
	var list, beside, control []*scenarios.Scenario
	var confined []string
	took = took.exceptRepeated(trials, round)
	for _, c := range round {
		fault := trials[c.trial].fault
		faulty := marked(bounded(c.group.scenarios, took), mark(c.trial, n))
		if fault.ClusterWide {
			list = append(list, suites.WithFaults(faulty, r.Suite.System, []string{fault.Name})...)
			continue
		}
		confined = append(confined, fmt.Sprintf("%s@%s-*", fault.Name, mark(c.trial, n)))
		beside = append(beside, faulty...)
		control = append(control, c.group.scenarios...)
	}
	beside = append(beside, marked(bounded(unique(control), took), controlMark(n))...)
	return append(list, suites.WithFaults(beside, r.Suite.System, confined)...)
}

// exceptRepeated are the timings of all scenarios but those that a trial of the round could not judge the first time:
// they are not given up sooner, with a fault or without.
func (t timings) exceptRepeated(trials []*trial, round []chosen) timings {
	t = maps.Clone(t)
	for _, c := range round {
		for title := range trials[c.trial].repeated {
			delete(t, title)
		}
	}
	return t
}

// controlMark is the mark of scenarios that run without a fault beside those of the n-th round.
func controlMark(n int) string { return fmt.Sprintf("c%d", n) }

// controlled are scenarios that ran with a fault, of which those that failed without it too, on the same cluster at the
// same time, are not judged.
func controlled(ran, control []*reports.Scenario) []*reports.Scenario {
	var all []*reports.Scenario
	for _, s := range ran {
		if s.Status == reports.Failed {
			s = unlessControl(s, control)
		}
		all = append(all, s)
	}
	return all
}

func unlessControl(s *reports.Scenario, control []*reports.Scenario) *reports.Scenario {
	unjudged := *s
	unjudged.Status = reports.Error
	i := slices.IndexFunc(control, func(c *reports.Scenario) bool { return original(c.Name) == original(s.Name) })
	switch {
	case i < 0:
		unjudged.Message = "it did not run without the fault"
	case control[i].Status == reports.Passed || control[i].Status == reports.Known:
		return s
	default:
		unjudged.Message = fmt.Sprintf("without the fault it is %s, too, on the same cluster at the same time: %s",
			control[i].Status, reports.Explain(control[i]))
	}
	return &unjudged
}

// again lets scenarios that could not be judged run once more, in a later round that has fewer beside them. It returns
// the others.
func (t *trial) again(ran []*reports.Scenario, round []chosen, trial int,
	progress clusters.Progress,
) []*reports.Scenario {
	var judged []*reports.Scenario
	for _, s := range ran {
		title := original(s.Name)
		i := slices.IndexFunc(round, func(c chosen) bool { return c.trial == trial && c.group.of(title) != nil })
		if isJudged(s) || t.repeated[title] || i < 0 {
			judged = append(judged, s)
			continue
		}
		if t.repeated == nil {
			t.repeated = map[string]bool{}
		}
		progress("%s with fault %s could not be judged, and is tried again: %s: %s", title, t.fault.Name, s.Status, s.Message)
		t.repeated[title] = true
		t.left = append(t.left, group{
			scenarios: []*scenarios.Scenario{round[i].group.of(title)},
			states:    round[i].group.states,
		})
	}
	return judged
}

// isJudged: it ran, and something can be said of it.
func isJudged(s *reports.Scenario) bool {
	return s.Status == reports.Passed || s.Status == reports.Known || s.Status == reports.Failed
}
