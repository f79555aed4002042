package scenarios

import (
	"github.com/rehearse-dev/rehearse/scenarios/fieldpath"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func unchangedVerb() verb {
	return verb{
		name: "unchanged", asksOne: true, lasts: true,
		about:      func(s *Step) string { return s.Unchanged.subject() },
		check:      func(v *validator, c stepCheck) { checkUnchanged(v, c.scenario, c.i, c.node) },
		watches:    func(s *Step) []Watch { return []Watch{{Selection: s.Unchanged.Selection, Paths: s.Unchanged.Paths}} },
		throughout: func(s *Step) []string { return s.Unchanged.Throughout },
	}
}

// Unchanged says what must not change in the objects that are selected when a time begins, all of which must stay.
type Unchanged struct {
	Selection `json:",inline"`
	// Paths in each object: metadata.uid, spec, status.containerStatuses[*].restartCount, metadata.labels["a.b/c"],
	// spec.ports[0].port. What is at a path, be it nothing, must be the same at every moment; at each path there must be
	// something in one of the objects. A null is the same as no field. In Kubernetes' own kinds an empty map or list is
	// so, too, where the API has no other meaning for it (labels, resources), but not where it has one (emptyDir). A field
	// that another version sets by default is a change.
	Paths []string `json:"paths" fixed:"true"`
	// Throughout names two steps: the time is from the beginning of the first to the end of the last. The last is this
	// step itself, or one before it.
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
