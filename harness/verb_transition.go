package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func transitionVerb() verb {
	return verb{
		run: runTransition, startsLoads: true, moves: true,
		needs: func(step *scenarios.Step) clusters.Ability {
			if broken := step.Breaks(); broken != nil && broken.System == "" {
				return clusters.AbilityBreakages
			}
			if step.Transition.Roll() != (clusters.Roll{}) {
				return clusters.AbilityMixedVersions
			}
			return ""
		},
		alone: func(step *scenarios.Step) string {
			if broken := step.Breaks(); broken != nil {
				return fmt.Sprintf("breaks %s", broken.Culprit())
			}
			return ""
		},
	}
}

// runTransition waits for the other scenarios of the track, and crosses with them. Meanwhile the scenario gives its
// place to others.
func runTransition(ctx context.Context, s *scenarioRun, _ int, step scenarios.Step) result {
	s.shared.transitions.allow(s.timeout(scenarios.Step{Timeout: step.Timeout}, defaultTransitionTimeout))
	s.shared.pause()
	began := time.Now()
	crossing, err := s.shared.barrier.Arrive(ctx, s.loads.starter(ctx, step))
	s.shared.goOn()
	r := crossed(s, err)
	if r.Status == reports.Passed && s.shared.transitions.wreck() == nil {
		clear(s.down)
	}
	r.Crossing, r.Waited = crossing, max(time.Since(began)-crossing, 0)
	return r
}

// crossed is the outcome of the step whose transition is over.
func crossed(s *scenarioRun, err error) result {
	state := s.shared.track.Path[min(s.at+1, len(s.shared.track.Path)-1)]
	var whole *notBrokenError
	switch {
	case errors.As(err, &whole):
		return failure(reports.Failed, "%v", err) // the step names the transition
	case err != nil:
		return failure(reports.Error, "%v", err)
	}
	s.at++
	evidence := "the cluster is now " + state.String()
	if wreck := s.shared.transitions.wreck(); wreck != nil {
		evidence = fmt.Sprintf("the cluster did not become %s, as expected: %s", state, wreck.Words)
	}
	return result{Outcome: reports.Outcome{Status: reports.Passed, Evidence: evidence}}
}
