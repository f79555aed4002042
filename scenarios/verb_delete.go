package scenarios

func deleteVerb() verb {
	return verb{
		name: "delete", write: true,
		about:  func(s *Step) string { return s.Delete.subject() },
		target: func(s *Step) ObjectReference { return s.Delete.ObjectReference },
		check:  func(v *validator, c stepCheck) { v.delete(c.step.Delete, c.node) },
	}
}

// Delete deletes one object by its name, or all that a selector names.
type Delete struct {
	ObjectReference `json:",inline"`
	// Selector deletes all objects that have these labels, instead of one by its name.
	Selector map[string]string `json:"selector,omitempty"`
	// Propagation of the deletion: Background, Foreground or Orphan. Default: the resource's own.
	Propagation string `json:"propagation,omitempty" fixed:"true"`
	// Wait until the object is gone. Default: true.
	Wait *bool `json:"wait,omitempty"`
}

func (v *validator) delete(d *Delete, n *node) {
	v.objectReference(d.ObjectReference, n)
	v.oneOf(d.Propagation, []string{"Background", "Foreground", "Orphan"}, n.at("propagation"), "propagation")
	switch byName, bySelector := d.Name != "", d.Selector != nil; {
	case byName == bySelector:
		v.at(n, "", "give either name or selector")
	case bySelector && len(d.Selector) == 0:
		v.at(n.at("selector"), "", "an empty selector would delete everything")
	}
}
