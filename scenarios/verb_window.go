package scenarios

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func windowVerb() verb {
	return verb{
		name:  "window",
		reads: func(s *Step) bool { return !slices.Contains(s.Window.Chosen(), "writes") },
		about: func(s *Step) string { return strings.Join(s.Window.Chosen(), ", ") },
		check: func(v *validator, c stepCheck) { checkWindow(v, c.scenario, c.i, c.node) },
	}
}

// Window says which checks are made of the window of an upgrade; {} makes all of them. They ask the oldest and the
// newest API server, and each is of the whole cluster: reads (every object reads alike through both), selectors (the
// field selectors of kubelet and of other clients are accepted by both or by neither), writes (an update of any object
// through the old one that changes nothing is accepted, loses nothing, and leaves what is stored as it is), namespaces
// (nothing is left of a namespace that is gone), addresses (no two Services have one cluster IP), leader (the
// controller manager that leads is not newer than the oldest API server), rules (policies, webhooks and custom resource
// definitions would be accepted by the old one), bootstrap (the objects that Kubernetes keeps for itself are not
// written again and again). Events and leases are left out. A scenario with the check writes has a cluster to itself.
type Window struct {
	// Only lists the checks to make. Default: all.
	Only []string `json:"only,omitempty" fixed:"true"`
	// Except lists checks to skip.
	Except []string `json:"except,omitempty" fixed:"true"`
	// Settle is how long the check bootstrap watches. Default: 4s.
	Settle Duration `json:"settle,omitempty"`
}

// WindowChecks lists the valid values of only and except.
func WindowChecks() []string {
	return []string{"reads", "selectors", "namespaces", "addresses", "leader", "rules", "writes", "bootstrap"}
}

// Chosen returns the checks to make.
func (w *Window) Chosen() []string {
	if len(w.Only) > 0 {
		return w.Only
	}
	return slices.DeleteFunc(WindowChecks(), func(check string) bool { return slices.Contains(w.Except, check) })
}

func checkWindow(v *validator, s *Scenario, i int, n *yamltree.Node) {
	w := s.Spec.Steps[i].Window
	v.notEmpty(n, "only", "except")
	for j, check := range w.Only {
		v.OneOf(check, WindowChecks(), n.At("only", j), "check")
	}
	for j, check := range w.Except {
		v.OneOf(check, WindowChecks(), n.At("except", j), "check")
	}
	switch {
	case len(w.Only) > 0 && len(w.Except) > 0:
		v.At(n.Key("except"), "omit one of them", "give either only or except")
	case len(w.Chosen()) == 0:
		v.At(n.Key("except"), "", "no checks are left")
	case !held(s, i):
		v.At(n, "put a transition with upTo before this step", "all API servers have the same state here")
	}
}
