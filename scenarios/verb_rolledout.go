package scenarios

func rolledOutVerb() verb {
	return verb{
		name: "rolledOut", asksOne: true,
		reads:   onlyReads,
		about:   func(s *Step) string { return s.RolledOut.subject() },
		check:   func(v *validator, c stepCheck) { v.selection(c.step.RolledOut.Selection, c.node) },
		results: []string{"object", "objects"},
		watches: func(s *Step) []Watch { return []Watch{{Selection: s.RolledOut.Selection}} },
		within:  func(s *Step) *Duration { return &copied(&s.RolledOut).Within },
	}
}

// RolledOut selects objects that must be rolled out.
type RolledOut struct {
	Selection `json:",inline"`
	// Within is the maximum time. Default: the step's timeout.
	Within Duration `json:"within,omitempty"`
}
