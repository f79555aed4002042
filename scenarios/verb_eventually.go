package scenarios

import (
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func eventuallyVerb() verb {
	return verb{
		name: "eventually", takesTime: true, asksOne: true,
		reads:   onlyReads,
		about:   func(s *Step) string { return s.Eventually.subject() },
		check:   func(v *validator, c stepCheck) { checkEventually(v, c.step.Eventually, c.node) },
		results: []string{"object", "objects"},
		empty:   func(s *Step) bool { return nothing(s.Eventually) },
		watches: func(s *Step) []Watch {
			watch := s.Eventually.watch()
			watch.Demanded, watch.FromTheStart = !nothing(s.Eventually), s.Eventually.MayBeVacuous()
			return []Watch{watch}
		},
		within: func(s *Step) *Duration { return &copied(&s.Eventually).Within },
	}
}

func checkEventually(v *validator, a *Assertion, n *yamltree.Node) {
	v.assertion(a, n)
	if n.Get("for") != nil {
		v.At(n.Key("for"), "for is for always and never", "use within, not for or throughout, with eventually")
	}
	if n.Get("throughout") != nil {
		v.At(n.Key("throughout"), "throughout is for always and never", "use within, not for or "+
			"throughout, with eventually")
	}
	v.OneOf(a.Stale, []string{Allowed}, n.At("stale"), "value of stale")
}
