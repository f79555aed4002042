package scenarios

import (
	"github.com/rehearse-dev/rehearse/scenarios/fieldpath"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func unchangedVerb() verb {
	return verb{
		name: "unchanged", asksOne: true, lasts: true,
		reads:      onlyReads,
		about:      func(s *Step) string { return s.Unchanged.subject() },
		check:      func(v *validator, c stepCheck) { checkUnchanged(v, c.scenario, c.i, c.node) },
		watches:    func(s *Step) []Watch { return []Watch{{Selection: s.Unchanged.Selection, Paths: s.Unchanged.Paths}} },
		throughout: func(s *Step) []string { return s.Unchanged.Throughout },
	}
}

// Unchanged says what must not change in the objects that are selected when a time begins, all of which must stay.
// Objects that are created later do not count.
type Unchanged struct {
	Selection `json:",inline"`
	// Paths in each object: metadata.uid, spec, status.containerStatuses[*].restartCount, metadata.labels["a.b/c"],
	// spec.ports[0].port. The value at a path, or its absence, must be the same at every moment; at least one of the
	// objects must have a value at each path. A null equals a missing field. In Kubernetes' own kinds, so does an empty
	// map or list, except where it has its own meaning (emptyDir). A default that another version sets is a change.
	Paths []string `json:"paths" fixed:"true"`
	// Throughout names two steps: the period lasts from the beginning of the first to the end of the last. The last is
	// this step itself or an earlier one.
	Throughout []string `json:"throughout" fixed:"true"`
}

func checkUnchanged(v *validator, s *Scenario, i int, n *yamltree.Node) {
	unchanged := s.Spec.Steps[i].Unchanged
	v.selection(unchanged.Selection, n)
	if len(unchanged.Paths) == 0 {
		v.At(n.At("paths"), "such as metadata.uid", "no path is given")
	}
	for j, text := range unchanged.Paths {
		if _, err := fieldpath.Parse(text); err != nil {
			v.At(n.At("paths", j), "such as spec, or status.containerStatuses[*].restartCount", "%v", err)
		}
	}
	checkThroughout(v, s, i, n)
}
