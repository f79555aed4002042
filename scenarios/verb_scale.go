package scenarios

func scaleVerb() verb {
	return verb{
		name: "scale", write: true, sends: ownFields,
		about:  func(s *Step) string { return s.Scale.subject() },
		target: func(s *Step) ObjectReference { return s.Scale.ObjectReference },
		check: func(v *validator, c stepCheck) {
			v.objectReference(c.step.Scale.ObjectReference, c.node)
			v.present(c.step.Scale.Name, c.node, "name")
		},
		results: []string{"object"},
	}
}

// Scale sets the number of replicas.
type Scale struct {
	ObjectReference `json:",inline"`
	// Replicas to set.
	Replicas int32 `json:"replicas"`
}
