package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// stated leaves out scenarios that show another reading of a requirement. They fail with an implementation that does
// what is stated, so their failure shows nothing about a fault.
func stated(all []*scenarios.Scenario) []*scenarios.Scenario {
	return slices.DeleteFunc(slices.Clone(all), func(s *scenarios.Scenario) bool {
		return s.Metadata.Labels[suites.ReadingLabel] != ""
	})
}

// relevant returns the scenarios that cover a requirement which the fault breaks.
func relevant(suite suites.Suite, fault simulators.Fault) []*scenarios.Scenario {
	return slices.DeleteFunc(stated(suite.Scenarios), func(s *scenarios.Scenario) bool {
		return !slices.ContainsFunc(s.Spec.Covers, func(id string) bool { return slices.Contains(fault.Breaks, id) })
	})
}

// separator stands between a mark and a scenario's own name.
const separator = "--"

// marked returns copies of the scenarios with new names, so that they can run again on the same cluster.
func marked(list []*scenarios.Scenario, mark string) []*scenarios.Scenario {
	var all []*scenarios.Scenario
	for _, s := range list {
		c := *s
		c.Metadata.Name = mark + separator + s.Metadata.Name
		all = append(all, &c)
	}
	return all
}

// original is a scenario's name without its mark.
func original(name string) string {
	if _, rest, marked := strings.Cut(name, separator); marked {
		return rest
	}
	return name
}

// mark is the mark of the i-th fault in the n-th round.
func mark(i, n int) string { return fmt.Sprintf("f%dr%d", i, n) }

// anyMark matches the marks of the i-th fault in all rounds, so that rounds with the same faults share a simulator.
func anyMark(i int) string { return fmt.Sprintf("f%dr*", i) }

// timings are how long each step of a scenario took without faults, by the scenario's own name.
type timings map[string][]time.Duration

func timingsOf(run *reports.Run) timings {
	all := timings{}
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			for _, step := range s.Steps {
				all[original(s.Name)] = append(all[original(s.Name)], step.Duration())
			}
		}
	}
	return all
}

// of is the duration of a scenario without faults; 0 if unknown.
func (t timings) of(s *scenarios.Scenario) time.Duration {
	var sum time.Duration
	for _, step := range t[s.Title()] {
		sum += step
	}
	return sum
}

// With a fault, the timeout of a step is reduced to its duration without faults, multiplied by patience, plus slack.
// There is slack for each round that runs at once, up to mostSlack. A timeout that is too short can only make a fault
// count as caught that was not. But before the steps that can catch the fault, it can hide the fault, which may make
// these steps slow. So they have at least ample. Beside a cluster-wide fault, nothing runs without it that would show
// that a timeout is too short. So there, all steps have at least ample.
const (
	patience  = 6
	slack     = 4 * time.Second
	mostSlack = 4 * slack
	ample     = 45 * time.Second
)

// bounded returns copies of the scenarios, for rounds that run at once, whose steps have shorter timeouts. A step of
// unknown duration keeps its timeout. lasting reports whether the i-th step has at least ample.
func bounded(list []*scenarios.Scenario, took timings, rounds int,
	lasting func(steps []scenarios.Step, i int) bool,
) []*scenarios.Scenario {
	spare := min(time.Duration(rounds)*slack, mostSlack)
	var all []*scenarios.Scenario
	for _, s := range list {
		c := *s
		c.Spec.Steps = slices.Clone(s.Spec.Steps)
		for i := range c.Spec.Steps {
			if known := took[s.Title()]; i < len(known) {
				most := spare + patience*known[i]
				if lasting(s.Spec.Steps, i) {
					most = max(most, ample)
				}
				c.Spec.Steps[i] = c.Spec.Steps[i].Hurried(most, c.Spec.Timeout.Or(defaultTimeout))
			}
		}
		all = append(all, &c)
	}
	return all
}

// noStep and everyStep say which steps have at least ample.
func noStep([]scenarios.Step, int) bool    { return false }
func everyStep([]scenarios.Step, int) bool { return true }

// leadingTo says that a step has at least ample if it covers none of the requirements, but a later step does.
func leadingTo(ids []string) func(steps []scenarios.Step, i int) bool {
	covers := func(step scenarios.Step) bool {
		return slices.ContainsFunc(step.Covers, func(id string) bool { return slices.Contains(ids, id) })
	}
	return func(steps []scenarios.Step, i int) bool {
		return !covers(steps[i]) && slices.ContainsFunc(steps[i+1:], covers)
	}
}

// defaultTimeout is the timeout of a step that sets none.
const defaultTimeout = 30 * time.Second
