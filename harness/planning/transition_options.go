package planning

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// TransitionOptions say how a transition is made.
type TransitionOptions struct {
	// Method of the transition; "" for the provider's default.
	Method string
	// Roll is the order in which control planes change, and where the transition stops.
	Roll clusters.Roll
	// Revert rolls the cluster back if the transition fails.
	Revert bool
}

// String describes the options; "" for the default ones.
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

// trackKey is equal for equal paths with the same options.
func trackKey(path []clusters.State, options []TransitionOptions) string {
	return pathKey(path) + fmt.Sprint(options)
}

// transitionOptions returns the options of a scenario's transitions. Unsupported options are problems.
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
			p.unsupported(step.Position, "method %s: the clusters of provider %s know no methods; leave it out, or use "+
				"--provider kind", method, p.provider.Name())
		} else if err := checker.CheckMethod(path[n], path[n+1], method); err != nil {
			p.problem(step.Position, "method %s: %w", method, err)
		}
	}
	return options
}
