package planning

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// TransitionOptions are how a transition is made.
type TransitionOptions struct {
	// Method by which the cluster goes, "" for the provider's own.
	Method string
	// Roll is the order in which it changes control planes, and where it stops.
	Roll clusters.Roll
	// Revert takes the cluster back when it does not arrive.
	Revert bool
}

// String is what there is to say of the way, "" of the usual one.
func (o TransitionOptions) String() string {
	text := ""
	if o.Method != "" {
		text = " by " + o.Method
	}
	switch {
	case o.Roll.APIServersFirst && o.Roll.UpTo > 0:
		text += fmt.Sprintf(" on %d of the components, API servers first", o.Roll.UpTo)
	case o.Roll.APIServersFirst:
		text += ", API servers first"
	case o.Roll.UpTo > 0:
		text += fmt.Sprintf(" on %d of the control planes", o.Roll.UpTo)
	}
	if o.Revert {
		text += ", and back on failure"
	}
	return text
}

// trackKey is equal for equal paths that are gone with the same options.
func trackKey(path []clusters.State, options []TransitionOptions) string {
	return pathKey(path) + fmt.Sprint(options)
}

// transitionOptions are those of a scenario's transitions. What the provider cannot do is a problem.
func (p *planner) transitionOptions(s *scenarios.Scenario, path []clusters.State) []TransitionOptions {
	var options []TransitionOptions
	for _, step := range s.Spec.Steps {
		if step.Transition == nil {
			continue
		}
		n := len(options)
		options = append(options, TransitionOptions{
			Method: step.Transition.Method,
			Roll:   step.Transition.Roll(),
			Revert: step.Transition.OnFailure == scenarios.Revert,
		})
		if method := options[n].Method; method == "" {
			continue
		} else if checker, ok := p.provider.(clusters.MethodChecker); !ok {
			p.problem(step.Position, "method %s: the clusters of provider %s know no methods; leave it out, or use "+
				"--provider kind", method, p.provider.Name())
		} else if err := checker.CheckMethod(path[n], path[n+1], method); err != nil {
			p.problem(step.Position, "method %s: %w", method, err)
		}
	}
	return options
}
