package scenarios

import (
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func deleteVerb() verb {
	return verb{
		name: "delete", write: true,
		about:  func(s *Step) string { return s.Delete.subject() },
		target: func(s *Step) ObjectReference { return s.Delete.ObjectReference },
		check:  func(v *validator, c stepCheck) { checkDelete(v, c.step.Delete, c.node) },
	}
}

// Delete deletes one object by its name, or all that a selector names.
type Delete struct {
	ObjectReference `json:",inline"`
	// Selector deletes all objects with these labels, instead of a named one.
	Selector map[string]string `json:"selector,omitempty"`
	// Propagation of the deletion: Background, Foreground or Orphan. Default: that of the resource.
	Propagation string `json:"propagation,omitempty" fixed:"true"`
	// Wait until the object is gone. Default: true.
	Wait *bool `json:"wait,omitempty"`
}

func checkDelete(v *validator, d *Delete, n *yamltree.Node) {
	v.objectReference(d.ObjectReference, n)
	v.OneOf(d.Propagation, []string{"Background", "Foreground", "Orphan"}, n.At("propagation"), "propagation")
	switch byName, bySelector := d.Name != "", d.Selector != nil; {
	case byName == bySelector:
		v.At(n, "", "give either name or selector")
	case bySelector && len(d.Selector) == 0:
		v.At(n.At("selector"), "", "an empty selector would delete everything")
	}
}
