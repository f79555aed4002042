package scenarios

func eventuallyVerb() verb {
	return verb{
		name: "eventually", takesTime: true, asksOne: true,
		about:   func(s *Step) string { return s.Eventually.subject() },
		check:   func(v *validator, c stepCheck) { v.eventually(c.step.Eventually, c.node) },
		results: []string{"object", "objects"},
		empty:   func(s *Step) bool { return nothing(s.Eventually) },
		watches: func(s *Step) []Watch {
			watch := s.Eventually.watch()
			watch.Demanded, watch.FromTheStart = !s.Eventually.Absent, s.Eventually.MayBeVacuous()
			return []Watch{watch}
		},
		within: func(s *Step) *Duration {
			assertion := *s.Eventually
			s.Eventually = &assertion
			return &assertion.Within
		},
	}
}

func (v *validator) eventually(a *Assertion, n *node) {
	v.assertion(a, n)
	if n.get("for") != nil {
		v.at(n.key("for"), "eventually has within; always and never have for", "eventually does not last")
	}
	if n.get("throughout") != nil {
		v.at(n.key("throughout"), "always and never have it", "eventually does not last")
	}
	v.oneOf(a.Stale, []string{Allowed}, n.at("stale"), "value of stale")
}
