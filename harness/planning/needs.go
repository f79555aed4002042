package planning

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Skipped is a scenario of the run that does not run, such as one that needs what the provider does not support.
type Skipped struct {
	Scenario *scenarios.Scenario
	// Why it is left out.
	Why string

	// Report is the scenario in the run's result.
	Report *reports.Scenario
}

// UnsupportedError is the error for something that a scenario needs and the provider does not support. It is no mistake
// in the scenario: another provider may support it.
type UnsupportedError struct{ Err error }

// Error returns what is not supported.
func (e *UnsupportedError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *UnsupportedError) Unwrap() error { return e.Err }

// Unsupported reports whether an error of a plan has no other reason than that the provider does not support something.
func Unsupported(err error) bool {
	problems := flatten(err)
	return len(problems) > 0 && !slices.ContainsFunc(problems, func(problem error) bool {
		var unsupported *UnsupportedError
		return !errors.As(problem, &unsupported)
	})
}

// lacks names the scenario's needs that the provider does not support; "" if it supports all.
func (p *planner) lacks(ctx context.Context, s *scenarios.Scenario) string {
	var lacking []string
	for _, ability := range s.Spec.Needs {
		if !p.has(ctx, ability, s.Spec.Cluster) {
			lacking = append(lacking, string(ability))
		}
	}
	if len(lacking) == 0 {
		return ""
	}
	return fmt.Sprintf("it needs %s, which provider %s does not support", strings.Join(lacking, " and "),
		p.provider.Name())
}

// has asks the provider. An error counts as yes: planning the scenario will report it.
func (p *planner) has(ctx context.Context, ability clusters.Ability, state clusters.State) bool {
	has, err := p.provider.Has(ctx, ability, state)
	return has || err != nil
}

// nothingLeft reports why each scenario is skipped or left out, if all of them are: an empty run is not a success.
func (p *planner) nothingLeft() {
	for _, out := range p.leftOut {
		p.problems = append(p.problems, out.Err)
	}
	for _, s := range p.skipped {
		p.problem(s.Scenario.Position, "scenario %s cannot be run: %s", s.Scenario.Title(), s.Why)
	}
}

// skippedTrack is the track of skipped scenarios in a run's result. It has no cluster.
const skippedTrack = "skipped"

func plannedSkips(skipped []*Skipped) *reports.Track {
	track := &reports.Track{Name: skippedTrack}
	for _, s := range skipped {
		s.Report, _ = plannedScenario(s.Scenario, s.Scenario.Path())
		track.Scenarios = append(track.Scenarios, s.Report)
	}
	return track
}
