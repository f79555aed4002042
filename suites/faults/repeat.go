package faults

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// repeat runs everything that ran with a fault again, Repeat times in total. The repetitions run beside each other, so
// that they share clusters and disturb each other. n is the number of the last round. It returns why scenarios
// without a fault did not pass twice.
func (r runner) repeat(ctx context.Context, trials []*trial, n int, took timings) (twice problems, err error) {
	if r.Repeat < 2 {
		return twice, nil
	}
	var all []chosen
	for i, t := range trials {
		for _, g := range t.done {
			all = append(all, chosen{i, g})
		}
	}
	byState(all)
	again := slices.Repeat([][]chosen{all}, r.Repeat)
	again[0] = nil // the first run has ended
	for _, t := range trials {
		t.note(r.Repeat-1, nil) // if the run ends early, these did not run
	}
	r.Progress("%d more runs with each fault", r.Repeat-1)
	failed, err := r.repetitions(ctx, trials, again, n, took)
	if err != nil {
		return twice, err
	}
	left := 0
	for k := range again {
		again[k] = withoutVerdict(trials, all, k, failed[k])
		left += len(again[k])
	}
	if left == 0 {
		return twice, nil
	}
	r.Progress("%d groups of scenarios could not be judged, and are retried", left)
	failed, err = r.repetitions(ctx, trials, again, n+len(again), timings{})
	for _, red := range failed {
		for _, title := range slices.Sorted(maps.Keys(red)) {
			twice.add(red[title])
		}
	}
	return twice, err
}

// repetitions runs several rounds beside each other, and notes their results in the trials. It returns for each round
// the scenarios that did not pass without a fault.
func (r runner) repetitions(ctx context.Context, trials []*trial, rounds [][]chosen, n int, took timings) (
	[]map[string]*reports.Scenario, error,
) {
	run, err := r.execute(ctx, r.scenariosOfRounds(trials, rounds, n+1, took), faulty())
	if err != nil {
		return nil, err
	}
	all := byMark(run)
	red := make([]map[string]*reports.Scenario, len(rounds))
	for k := range rounds {
		control := all[controlMark(n+1+k)]
		red[k] = map[string]*reports.Scenario{}
		for _, s := range control {
			if s.Status != reports.Passed && s.Status != reports.Known {
				red[k][original(s.Name)] = s
			}
		}
		for i, t := range trials {
			ran := all[mark(i, n+1+k)]
			if !t.fault.ClusterWide {
				ran = controlled(ran, control)
			}
			t.note(k, ran)
		}
	}
	return red, nil
}

// note notes the results of a run. A later result of a scenario replaces an earlier one.
func (t *trial) note(run int, ran []*reports.Scenario) {
	if run == 0 {
		t.ran = slices.DeleteFunc(t.ran, func(old *reports.Scenario) bool {
			return slices.ContainsFunc(ran, func(s *reports.Scenario) bool { return original(s.Name) == original(old.Name) })
		})
		t.ran = append(t.ran, ran...)
		return
	}
	for len(t.repetitions) < run {
		t.repetitions = append(t.repetitions, map[string]*reports.Scenario{})
	}
	for _, s := range ran {
		t.repetitions[run-1][original(s.Name)] = s
	}
}

// result is the result of a scenario in a run; nil if it did not run. Run 0 is the first one.
func (t *trial) result(run int, title string) *reports.Scenario {
	if run == 0 {
		return t.first(title)
	}
	return t.repetitions[run-1][title]
}

// withoutVerdict returns the scenarios that could not be judged in a run, and those that failed without a fault. A run
// that failed, but not a requirement, counts as not judged if another run ended differently: a timeout may be too short
// for runs that disturb each other.
func withoutVerdict(trials []*trial, round []chosen, run int, red map[string]*reports.Scenario) []chosen {
	var all []chosen
	for _, c := range round {
		c.group.scenarios = slices.DeleteFunc(slices.Clone(c.group.scenarios), func(s *scenarios.Scenario) bool {
			result := trials[c.trial].result(run, s.Title())
			_, failed := red[s.Title()]
			if result == nil || !isJudged(result) || blamesNothing(result) && trials[c.trial].differ(s.Title()) {
				return false
			}
			return !failed || trials[c.trial].fault.ClusterWide
		})
		if len(c.group.scenarios) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// blamesNothing reports whether a scenario failed, but none of its requirements: a step failed that covers none.
func blamesNothing(s *reports.Scenario) bool {
	return s.Status == reports.Failed && !slices.ContainsFunc(s.Covers, func(id string) bool {
		status, _ := s.About(id)
		return status == reports.Failed
	})
}

// differ reports whether the verdicts of a scenario differ between its runs.
func (t *trial) differ(title string) bool { return differences(t.results(title)) != "" }

// results are the results of a scenario in all runs; nil for a run that it has no result of.
func (t *trial) results(title string) []*reports.Scenario {
	var runs []*reports.Scenario
	for run := range len(t.repetitions) + 1 {
		runs = append(runs, t.result(run, title))
	}
	return runs
}

// compare notes in the row the scenarios whose verdicts differ between the runs, and the runs without a verdict.
func (t *trial) compare(row *Row) {
	for _, g := range t.done {
		for _, s := range g.scenarios {
			runs := t.results(s.Title())
			if different := differences(runs); different != "" {
				row.Unstable = append(row.Unstable, s.Title()+": "+different)
			}
			for i, run := range runs {
				if len(runs) > 1 && (run == nil || !isJudged(run)) {
					row.Unrepeated = append(row.Unrepeated, fmt.Sprintf("%s, run %d: %s", s.Title(), i+1, whyUnjudged(run)))
				}
			}
		}
	}
}

// first is the result of a scenario in the first run; nil if it did not run.
func (t *trial) first(title string) *reports.Scenario {
	for _, s := range slices.Backward(t.ran) {
		if original(s.Name) == title {
			return s
		}
	}
	return nil
}

func whyUnjudged(s *reports.Scenario) string {
	if s == nil {
		return "it did not run"
	}
	return s.Message
}

// differences says how the verdicts of a scenario differ between its runs; "" if they are equal. It ignores runs
// without a verdict.
func differences(runs []*reports.Scenario) string {
	var order []string
	by, why := map[string][]string{}, map[string]string{}
	for i, s := range runs {
		if s == nil || !isJudged(s) {
			continue
		}
		v := verdict(s)
		if by[v] == nil {
			order = append(order, v)
			if s.Status != reports.Passed {
				why[v] = strings.Join(strings.Fields(s.Message), " ")
			}
		}
		by[v] = append(by[v], fmt.Sprint(i+1))
	}
	if len(order) < 2 {
		return ""
	}
	var texts []string
	for _, v := range order {
		text := fmt.Sprintf("%s in runs %s", v, strings.Join(by[v], " "))
		if why[v] != "" {
			text += fmt.Sprintf(" (in run %s: %s)", by[v][0], why[v])
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// verdict is the verdict on a scenario and on its requirements.
func verdict(s *reports.Scenario) string {
	text := string(s.Status)
	for _, id := range s.Covers {
		status, _ := s.About(id)
		text += fmt.Sprintf(" %s=%s", id, status)
	}
	return text
}
