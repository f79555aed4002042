package scenarios

import (
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func applyVerb() verb {
	return verb{
		name: "apply", write: true, sends: objectFields, changes: true,
		about:   func(s *Step) string { return s.Apply.subject() },
		target:  func(s *Step) ObjectReference { return s.Apply.Reference() },
		makes:   func(s *Step) Object { return s.Apply },
		check:   func(v *validator, c stepCheck) { v.object(c.step.Apply, c.node, false, c.accepted) },
		results: []string{"object"},
		way:     func(object, _ *yamltree.Node) *yamltree.Node { return object },
	}
}
