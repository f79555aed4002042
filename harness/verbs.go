package harness

import (
	"context"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

//go:generate go run ./internal/generate

// verb is how one of the language's verbs runs. The language defines what it uses and what can be wrong with it
// (scenarios/step.go).
type verb struct {
	// run does what the i-th step says.
	run func(ctx context.Context, s *scenarioRun, i int, step scenarios.Step) result
	// needs returns the ability of clusters that a step requires, "" for none; nil if every cluster can run it.
	needs func(*scenarios.Step) clusters.Ability
	// cannot returns why a step cannot run in a state, "" if it can; nil if it always can.
	cannot func(*scenarios.Step, clusters.State) string
	// alone returns why a scenario with such a step cannot share its cluster, "" if it can; nil if it always can.
	alone func(*scenarios.Step) string
	// lacks returns what the step needs from an earlier step that did not pass, "" for nothing; nil if it never needs
	// anything.
	lacks func(*scenarioRun, *scenarios.Step) string
	// agree decides whether answers that passed through each of several API servers also agree with each other; nil if
	// they need not.
	agree func(ctx context.Context, i int, step scenarios.Step, views []*scenarioRun, passed result) result
	// moves: objects may be different after it, so survives looks at them again.
	moves bool
	// programs: it runs programs, whose effects the harness does not see. asOthers: another user than the administrator
	// may act in it.
	programs, asOthers bool
	// waits: it waits for what happens in the cluster, and does nothing itself.
	waits bool
	// startsLoads: it starts the loads of the step itself, at the right time.
	startsLoads bool
	// leavesDown: the API server need not answer when it is over.
	leavesDown bool
}

// verbOf returns how a step runs. A verb that is not in the table returns an error.
func verbOf(step *scenarios.Step) verb {
	name := step.Verb()
	if v, known := verbs()[name]; known {
		return v
	}
	return verb{run: func(context.Context, *scenarioRun, int, scenarios.Step) result {
		return failure(reports.Error, "the harness does not know how to run the verb %q", name)
	}}
}

// always returns a need that is the same for every step with a verb.
func always(ability clusters.Ability) func(*scenarios.Step) clusters.Ability {
	return func(*scenarios.Step) clusters.Ability { return ability }
}
