package scenarios

import (
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func createVerb() verb {
	return verb{
		name: "create", write: true, sends: objectFields,
		about:   func(s *Step) string { return s.Create.subject() },
		target:  func(s *Step) ObjectReference { return s.Create.Reference() },
		makes:   func(s *Step) Object { return s.Create },
		check:   func(v *validator, c stepCheck) { v.object(c.step.Create, c.node, true, c.accepted) },
		results: []string{"object"},
		way:     func(object, _ *yamltree.Node) *yamltree.Node { return object },
	}
}
