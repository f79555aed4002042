package scenarios

func neverVerb() verb {
	return verb{
		name: "never", takesTime: true, lasts: true, asksOne: true,
		reads:      onlyReads,
		about:      func(s *Step) string { return s.Never.subject() },
		check:      func(v *validator, c stepCheck) { checkLasting(v, c.scenario, c.i, c.step.Never, c.node) },
		watches:    func(s *Step) []Watch { return []Watch{s.Never.watch()} },
		throughout: func(s *Step) []string { return s.Never.Throughout },
	}
}
