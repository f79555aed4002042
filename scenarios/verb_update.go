package scenarios

import (
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func updateVerb() verb {
	return verb{
		name: "update", write: true, sends: objectFields, changes: true,
		about:   func(s *Step) string { return s.Update.subject() },
		target:  func(s *Step) ObjectReference { return s.Update.Reference() },
		check:   func(v *validator, c stepCheck) { v.object(c.step.Update, c.node, false, c.accepted) },
		results: []string{"object"},
		way: func(object, existing *yamltree.Node) *yamltree.Node {
			if existing == nil {
				return object
			}
			return withEntry(object, "metadata", withEntry(orMapping(object.Get("metadata"), object), "name", existing))
		},
	}
}
