package harness

import (
	"context"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// verb is how one of the language's verbs runs. What it is about, and what can be wrong with it, is the language's
// (scenarios/step.go).
type verb struct {
	// run does what the i-th step says.
	run func(ctx context.Context, s *scenarioRun, i int, step scenarios.Step) result
	// needs is the ability of clusters without which a step cannot be run, "" for none; nil where every cluster can run
	// it.
	needs func(*scenarios.Step) clusters.Ability
	// cannot says why a step cannot be run in a state, "" where it can; nil where it always can.
	cannot func(*scenarios.Step, clusters.State) string
	// alone says why a scenario with such a step cannot share its cluster, "" where it can; nil where it always can.
	alone func(*scenarios.Step) string
	// lacks says what the step needs of an earlier one that did not pass, "" for nothing; nil where it never needs any.
	lacks func(*scenarioRun, *scenarios.Step) string
	// programs says that it runs programs, whose deeds the harness does not see; asOthers, that somebody else than the
	// administrator may act in it.
	programs, asOthers bool
	// waits says that it waits for what happens in the cluster, and does nothing itself.
	waits bool
	// startsLoads says that it starts the loads of the step itself, when it is time.
	startsLoads bool
	// leavesDown says that the API server need not answer when it is over.
	leavesDown bool
}

// verbs is the table of how the verbs run.
func verbs() map[string]verb {
	return map[string]verb{
		"create": writeVerb(), "apply": writeVerb(), "update": writeVerb(), "patch": writeVerb(),
		"delete": writeVerb(), "evict": writeVerb(), "scale": writeVerb(), "parallel": parallelVerb(),
		"transition": transitionVerb(), "restart": restartVerb(), "kill": killVerb(), "snapshot": snapshotVerb(),
		"restore":    restoreVerb(),
		"eventually": eventuallyVerb(), "rolledOut": rolledOutVerb(), "always": alwaysVerb(), "never": neverVerb(),
		"sequence": sequenceVerb(), "unchanged": unchangedVerb(), "survives": survivesVerb(),
		"window":  windowVerb(),
		"resolve": resolveVerb(), "metric": metricVerb(), "command": commandVerb(), "exec": execVerb(),
	}
}

// verbOf is how a step runs. A verb that is not in the table runs to an error.
func verbOf(step *scenarios.Step) verb {
	name := step.Verb()
	if v, known := verbs()[name]; known {
		return v
	}
	return verb{run: func(context.Context, *scenarioRun, int, scenarios.Step) result {
		return failure(reports.Error, "the harness does not know how to run the verb %q", name)
	}}
}

// always is the need of every step with a verb.
func always(ability clusters.Ability) func(*scenarios.Step) clusters.Ability {
	return func(*scenarios.Step) clusters.Ability { return ability }
}
