package scenarios

func createVerb() verb {
	return verb{
		name: "create", write: true, sends: objectFields,
		about:   func(s *Step) string { return s.Create.subject() },
		target:  func(s *Step) ObjectReference { return s.Create.Reference() },
		makes:   func(s *Step) Object { return s.Create },
		check:   func(v *validator, c stepCheck) { v.object(c.step.Create, c.node, true, c.accepted) },
		results: []string{"object"},
		way:     func(object, _ *node) *node { return object },
	}
}
