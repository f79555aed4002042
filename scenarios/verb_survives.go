package scenarios

import (
	"slices"

	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func survivesVerb() verb {
	return verb{
		name: "survives", lasts: true, asksOne: true,
		reads:      onlyReads,
		about:      func(s *Step) string { return s.Survives.subject() },
		check:      func(v *validator, c stepCheck) { checkSurvives(v, c.scenario, c.i, c.node) },
		watches:    func(s *Step) []Watch { return []Watch{{Selection: s.Survives.Selection}} },
		throughout: func(s *Step) []string { return s.Survives.Throughout },
	}
}

// Survives says which objects must survive, and what. At least one must be selected.
type Survives struct {
	Selection `json:",inline"`
	// Throughout names two steps: the objects that are selected when the first begins must survive until the last has
	// ended. They are checked when the first begins and after each transition, restart and restore, or at the end if there
	// is none. If etcd or kube-apiserver is killed then, they are checked when it is up again. The last is this step
	// itself or an earlier one. The scenario's own changes in between count as changes, too: see except.
	Throughout []string `json:"throughout,omitempty" fixed:"true"`
	// Now makes the checks that need no earlier state: whether the objects can be read, written, deleted and created
	// again. Set either now or throughout.
	Now bool `json:"now,omitempty"`
	// Except lists checks to skip: moved, read, condition, content, keep, update, label, status, scale, finalizer,
	// delete, evict, apply, create.
	Except []string `json:"except,omitempty" fixed:"true"`
	// Settle is how long the untouched cluster is watched at each check. Default: 2s. A check may take as long as the
	// step's own timeout; default: 5m.
	Settle Duration `json:"settle,omitempty"`
}

// SurvivalChecks lists the valid values of except.
func SurvivalChecks() []string {
	return []string{
		"moved", "read", "condition", "content", "keep", "update", "label", "status", "scale", "finalizer", "delete",
		"evict", "apply", "create",
	}
}

func checkSurvives(v *validator, s *Scenario, i int, n *yamltree.Node) {
	survives := s.Spec.Steps[i].Survives
	v.selection(survives.Selection, n)
	v.notEmpty(n, "except")
	for j, check := range survives.Except {
		v.OneOf(check, SurvivalChecks(), n.At("except", j), "check")
	}
	skipped := func(check string) bool { return slices.Contains(survives.Except, check) }
	if checks := SurvivalChecks(); len(slices.DeleteFunc(checks, skipped)) == 0 {
		v.At(n.Key("except"), "", "no checks are left")
	}
	switch {
	case survives.Now && n.Get("throughout") != nil:
		v.At(n.Key("now"), "omit one of them", "give either now or throughout")
	case n.Get("throughout") == nil && !survives.Now:
		v.At(n, "throughout: [first step, last step], or now: true", "survives needs now or throughout")
	case n.Get("throughout") != nil:
		checkThroughout(v, s, i, n)
	}
}
