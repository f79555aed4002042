package scenarios

import (
	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/internal/states"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func restartVerb() verb {
	return verb{
		name: "restart", changesCluster: true, takesTime: true, revives: true, asksOne: true,
		component: func(s *Step) *ComponentReference { return s.Restart },
		about:     func(s *Step) string { return s.Restart.String() },
		check:     func(v *validator, c stepCheck) { checkControlled(v, c.scenario, c.i, c.step.Restart, c.node) },
	}
}

// ComponentReference names a component (kube-apiserver, kube-controller-manager, kube-scheduler, kube-scheduler/NAME or
// etcd), or a system that is a process. Exactly one field is set.
type ComponentReference struct {
	// Component by the name of its binary.
	Component clusters.Component `json:"component,omitempty" fixed:"true"`
	// System by its name.
	System string `json:"system,omitempty" fixed:"true"`
}

// Silences reports whether the API server stops answering without the component.
func (r ComponentReference) Silences() bool {
	return r.Component == clusters.APIServer || r.Component == clusters.Etcd
}

// String returns the name of the component or system.
func (r ComponentReference) String() string {
	if r.System != "" {
		return r.System
	}
	return string(r.Component)
}

// checkProcess checks that a system is in a state, and that Rehearse runs it as a process. hint says what to do if it
// does not.
func checkProcess(v *validator, state clusters.State, name, hint string, at *yamltree.Node) {
	if system, there := state.System(name); !there {
		v.At(at, words.Suggest(name, states.SystemNames(state), "systems here"), "no system is called %q", words.Short(name))
	} else if system.Kind() == "manifests" {
		v.At(at, hint, "the system %q is not a process of Rehearse: the cluster runs it", words.Short(name))
	}
}

// checkControlled checks the target of a restart or a kill: either one component, or one system that Rehearse runs as a
// process.
func checkControlled(v *validator, s *Scenario, i int, r *ComponentReference, n *yamltree.Node) {
	switch {
	case r.Component != "" && r.System != "":
		v.At(n.Key("system"), "make two steps of it", "give either component or system")
	case r.System != "":
		checkProcess(v, stateBefore(s, i), r.System, "delete its pods instead", n.At("system"))
	case r.Component == "":
		v.At(n, "", "give either component or system")
	default:
		v.OneOf(string(r.Component), states.Restartable(stateBefore(s, i)), n.At("component"),
			"component that can be restarted")
	}
}
