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

// relevant are the scenarios that cover what a fault breaks.
func relevant(suite suites.Suite, fault simulators.Fault) []*scenarios.Scenario {
	return slices.DeleteFunc(slices.Clone(suite.Scenarios), func(s *scenarios.Scenario) bool {
		return s.Metadata.Labels[suites.ReadingLabel] != "" || !slices.ContainsFunc(s.Spec.Covers,
			func(id string) bool { return slices.Contains(fault.Breaks, id) })
	})
}

// separator stands between a mark and a scenario's own name.
const separator = "--"

// marked gives scenarios names of their own, so that they can run a second time on a cluster that has seen them.
func marked(list []*scenarios.Scenario, mark string) []*scenarios.Scenario {
	var all []*scenarios.Scenario
	for _, s := range list {
		c := *s
		c.Metadata.Name = mark + separator + s.Metadata.Name
		all = append(all, &c)
	}
	return all
}

// original is the name that a scenario had before it was marked.
func original(name string) string {
	if _, rest, marked := strings.Cut(name, separator); marked {
		return rest
	}
	return name
}

// mark of the i-th fault in the n-th round.
func mark(i, n int) string { return fmt.Sprintf("f%dr%d", i, n) }

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

// of is how long a scenario took from its first step to its last; 0 where that is not known.
func (t timings) of(s *scenarios.Scenario) time.Duration {
	var sum time.Duration
	for _, step := range t[s.Title()] {
		sum += step
	}
	return sum
}

// A step that waits for what a fault keeps from coming is given up much sooner than it would be otherwise: after what
// it took without faults, times patience, and some slack. Too soon would call a fault caught that is not, never the
// other way around.
const (
	patience = 6
	slack    = 4 * time.Second
)

// bounded makes the steps of scenarios give up sooner.
func bounded(list []*scenarios.Scenario, took timings) []*scenarios.Scenario {
	var all []*scenarios.Scenario
	for _, s := range list {
		c := *s
		c.Spec.Steps = slices.Clone(s.Spec.Steps)
		for i := range c.Spec.Steps {
			if known := took[s.Title()]; i < len(known) {
				c.Spec.Steps[i] = c.Spec.Steps[i].Hurried(slack+patience*known[i], c.Spec.Timeout.Or(defaultTimeout))
			}
		}
		all = append(all, &c)
	}
	return all
}

// defaultTimeout is what a step has that says nothing.
const defaultTimeout = 30 * time.Second
