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

// scenariosOfRounds returns the scenarios of rounds that run beside each other; n is the number of the first one. A
// cluster-wide fault has its own simulator, and so its own cluster. All other faults share one simulator, each limited
// to the namespaces of the scenarios that should catch it. The same scenarios also run beside them without faults, to
// show that only the fault makes them fail.
func (r runner) scenariosOfRounds(trials []*trial, rounds [][]chosen, n int, took timings) []*scenarios.Scenario {
	var list, beside []*scenarios.Scenario
	var confined []string
	parallel := len(slices.DeleteFunc(slices.Clone(rounds), func(round []chosen) bool { return len(round) == 0 }))
	for k, round := range rounds {
		var control []*scenarios.Scenario
		took := took.exceptRepeated(trials, round)
		for _, c := range round {
			fault := trials[c.trial].fault
			if fault.ClusterWide { // nothing runs beside it without the fault
				faulty := marked(bounded(c.group.scenarios, took, parallel, everyStep), mark(c.trial, n+k))
				list = append(list, suites.WithFaults(faulty, r.Suite.System, []string{fault.Name})...)
				continue
			}
			faulty := marked(bounded(c.group.scenarios, took, parallel, leadingTo(fault.Breaks)), mark(c.trial, n+k))
			confined = append(confined, fmt.Sprintf("%s@%s-*", fault.Name, anyMark(c.trial)))
			beside = append(beside, faulty...)
			control = append(control, c.group.scenarios...)
		}
		beside = append(beside, marked(bounded(unique(control), took, parallel, noStep), controlMark(n+k))...)
	}
	return append(list, suites.WithFaults(beside, r.Suite.System, confined)...)
}

// exceptRepeated returns the timings, but without the scenarios that a trial of the round could not judge the first
// time. These keep their full timeouts, with the fault and without it.
func (t timings) exceptRepeated(trials []*trial, round []chosen) timings {
	t = maps.Clone(t)
	for _, c := range round {
		for title := range trials[c.trial].repeated {
			delete(t, title)
		}
	}
	return t
}

// controlMark is the mark of the scenarios that run without a fault beside those of the n-th round.
func controlMark(n int) string { return fmt.Sprintf("c%d", n) }

// controlled returns the scenarios that ran with a fault. A failed one becomes unjudged if it also failed without the
// fault, on the same cluster at the same time, or did not run without it.
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

// again puts scenarios that could not be judged into a later, smaller round, each only once. It returns the other
// scenarios.
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
		progress("%s with fault %s could not be judged, and is retried: %s: %s", title, t.fault.Name, s.Status, s.Message)
		t.repeated[title] = true
		t.left = append(t.left, group{
			scenarios: []*scenarios.Scenario{round[i].group.of(title)},
			states:    round[i].group.states,
		})
	}
	return judged
}

// isJudged reports whether a scenario ran and has a verdict.
func isJudged(s *reports.Scenario) bool {
	return s.Status == reports.Passed || s.Status == reports.Known || s.Status == reports.Failed
}
