package scenarios

func killVerb() verb {
	return verb{
		name: "kill", changesCluster: true, takesTime: true, asksOne: true,
		component: func(s *Step) *ComponentReference { return s.Kill },
		about:     func(s *Step) string { return s.Kill.String() },
		check:     func(v *validator, c stepCheck) { checkControlled(v, c.scenario, c.i, c.step.Kill, c.node) },
	}
}
