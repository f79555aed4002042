package scenarios

func alwaysVerb() verb {
	return verb{
		name: "always", takesTime: true, lasts: true, asksOne: true,
		reads:   onlyReads,
		about:   func(s *Step) string { return s.Always.subject() },
		check:   func(v *validator, c stepCheck) { checkLasting(v, c.scenario, c.i, c.step.Always, c.node) },
		results: []string{"object", "objects"},
		empty:   func(s *Step) bool { return nothing(s.Always) },
		watches: func(s *Step) []Watch {
			watch := s.Always.watch()
			watch.Demanded = !nothing(s.Always)
			return []Watch{watch}
		},
		throughout: func(s *Step) []string { return s.Always.Throughout },
	}
}
