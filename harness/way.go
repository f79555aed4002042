package harness

import (
	"context"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Way is how a transition is made.
type Way struct {
	// Method by which the cluster goes, "" for the provider's own.
	Method string
	// Revert takes the cluster back when it does not arrive.
	Revert bool
}

// String is what there is to say of the way, "" of the usual one.
func (w Way) String() string {
	text := ""
	if w.Method != "" {
		text = " by " + w.Method
	}
	if w.Revert {
		text += ", and back on failure"
	}
	return text
}

// trackKey is equal for equal paths that are gone in the same ways.
func trackKey(path []clusters.State, ways []Way) string { return pathKey(path) + fmt.Sprint(ways) }

// ways of a scenario's transitions. What the provider cannot do is a problem.
func (p *planner) ways(s *scenarios.Scenario, path []clusters.State) []Way {
	var ways []Way
	for _, step := range s.Spec.Steps {
		if step.Transition == nil {
			continue
		}
		n := len(ways)
		ways = append(ways, Way{Method: step.Transition.Method, Revert: step.Transition.OnFailure == scenarios.Revert})
		if method := ways[n].Method; method == "" {
			continue
		} else if checker, ok := p.provider.(clusters.MethodChecker); !ok {
			p.problem(step.Position, "method %s: the clusters of provider %s know no methods; leave it out, or use --provider kind", method, p.provider.Name())
		} else if err := checker.CheckMethod(path[n], path[n+1], method); err != nil {
			p.problem(step.Position, "method %s: %w", method, err)
		}
	}
	return ways
}

// revert takes the cluster back to the n-th state of the path, after the transition from it failed, and says what came of that.
func (t *trackRun) revert(ctx context.Context, n int, patience time.Duration, err error) error {
	if interrupted(ctx) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	before := t.track.Path[n]
	t.Progress("the transition failed; taking the cluster back to %s", before)
	if backErr := t.converge(ctx, before, ""); backErr != nil {
		return fmt.Errorf("%w\nand the cluster could not be taken back to %s: %w", err, before, backErr)
	}
	return fmt.Errorf("%w\nthe cluster was taken back to %s", err, before)
}
