package suites

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

const widgets = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: upgrade, labels: {system: widgets}}
spec:
  description: A widget is upgraded.
  covers: [W-1, W-2]
  cluster: {version: "1.36", systems: [{name: other, simulated: {}}, {name: widgets, simulated: {variant: older, faults: [a]}}]}
  steps:
  - transition: {systems: [{name: widgets, simulated: {variant: newer}}]}
  - transition: {systems: [{name: widgets, remove: true}]}
`

func loadWidgets(t *testing.T) []*scenarios.Scenario {
	t.Helper()
	set, err := scenarios.LoadBytes("w.yaml", []byte(widgets))
	golden.Must(t, err)
	return set.Scenarios
}

func TestWithFaults(t *testing.T) {
	list := loadWidgets(t)
	path := func(s *scenarios.Scenario) string {
		var states []string
		for _, state := range s.Path() {
			states = append(states, state.String())
		}
		return strings.Join(states, " | ")
	}
	const before = "1.36 other(simulated) widgets(simulated, variant older, faults a) | 1.36 other(simulated) " +
		"widgets(simulated, variant newer) | 1.36 other(simulated)"
	if got := path(list[0]); got != before {
		t.Fatalf("got %s", got)
	}
	const after = "1.36 other(simulated) widgets(simulated, variant older, faults a b) | 1.36 other(simulated) " +
		"widgets(simulated, variant newer, faults a b) | 1.36 other(simulated)"
	if got := path(WithFaults(list, "widgets", []string{"a", "b"})[0]); got != after {
		t.Errorf("got  %s\nwant %s", got, after)
	}
	if got := path(list[0]); got != before {
		t.Errorf("the scenario itself was changed: %s", got)
	}
}

func TestWithLiberties(t *testing.T) {
	states := WithLiberties(loadWidgets(t), "widgets", []string{"late"})[0].Path()
	for i, want := range []string{
		"1.36 other(simulated) widgets(simulated, variant older, faults a, liberties late)",
		"1.36 other(simulated) widgets(simulated, variant newer, liberties late)",
	} {
		if got := states[i].String(); got != want {
			t.Errorf("state %d: got %s, want %s", i, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	fault := func(name string, breaks ...string) simulators.Fault {
		return simulators.Fault{Name: name, Sentence: "It is wrong.", Breaks: breaks}
	}
	one, two := Requirement{ID: "W-1", Level: Core}, Requirement{ID: "W-2", Level: Extended}
	reasoned := Requirement{ID: "W-1", Level: Core, NoFault: "Nobody can break it."}
	for name, c := range map[string]struct {
		requirements []Requirement
		faults       []simulators.Fault
		want         string
	}{
		"no simulator":         {[]Requirement{one, two}, nil, ""},
		"every core is broken": {[]Requirement{one, two}, []simulators.Fault{fault("a", "W-1")}, ""},
		"a reason":             {[]Requirement{reasoned, two}, []simulators.Fault{fault("a", "W-2")}, ""},
		"neither": {
			[]Requirement{one, two},
			[]simulators.Fault{fault("a", "W-2")},
			"no fault breaks the core requirement W-1",
		},
		"both": {
			[]Requirement{reasoned, two},
			[]simulators.Fault{fault("a", "W-1")},
			"W-1 says why no fault breaks it, but a does",
		},
		"two faults of one name": {
			[]Requirement{one, two},
			[]simulators.Fault{fault("a", "W-1"), fault("a", "W-2")},
			"two faults are called a",
		},
		"a fault of nothing": {
			[]Requirement{one, two},
			[]simulators.Fault{fault("a", "W-1"), fault("b")},
			"fault b breaks nothing",
		},
		"a fault of nothing real": {
			[]Requirement{one, two},
			[]simulators.Fault{fault("a", "W-1", "W-9")},
			"fault a breaks W-9, which is no requirement",
		},
		"uncovered": {[]Requirement{one, two, {ID: "W-3", Level: Core}}, nil, "no scenario covers W-3"},
		"unknown":   {[]Requirement{one}, nil, "covers W-2, which is no requirement"},
		"a variant that nothing shows": {
			[]Requirement{{ID: "W-1", Variants: []Variant{{Name: "as stated"}, {Name: "otherwise"}}}, two},
			nil,
			"nothing can meet W-1 as its variant otherwise",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := Suite{
				Name: "widgets", System: "widgets", Requirements: c.requirements, Faults: c.faults,
				Scenarios: loadWidgets(t),
			}.Check()
			if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A liberty is tried with the scenarios that cover what it is about. Without one, it would always be green.
func TestCheckOfLiberties(t *testing.T) {
	slow := func(list []*scenarios.Scenario) {
		for _, c := range list {
			c.Metadata.Labels[SlowLabel] = "minutes"
		}
	}
	for name, c := range map[string]struct {
		about  []string
		change func([]*scenarios.Scenario)
		want   string
	}{
		"about everything":    {nil, nil, ""},
		"about a requirement": {[]string{"W-9", "W-2"}, nil, ""},
		"about nothing real": {
			[]string{"W-9"}, nil, "no scenario that is not slow covers a requirement that liberty late is about: W-9",
		},
		"about what only slow scenarios cover": {[]string{"W-2"}, slow, "no scenario that is not slow"},
	} {
		t.Run(name, func(t *testing.T) {
			s := Suite{
				Name: "widgets", System: "widgets", Requirements: []Requirement{{ID: "W-1"}, {ID: "W-2"}},
				Scenarios: loadWidgets(t), Liberties: []simulators.Liberty{{Name: "late", About: c.about}},
			}
			if c.change != nil {
				c.change(s.Scenarios)
			}
			if err := s.Check(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestCheckOfScenarios(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Suite, *scenarios.Scenario)
		want   string
	}{
		"of another suite": {func(_ *Suite, c *scenarios.Scenario) { c.Metadata.Labels = nil }, "give it the label system: widgets"},
		"not described":    {func(_ *Suite, c *scenarios.Scenario) { c.Spec.Description = "" }, "it needs a description"},
		"a strange known issue": {
			func(_ *Suite, c *scenarios.Scenario) {
				c.Spec.Known = []scenarios.KnownIssue{{Covers: []string{"W-3"}}}
			},
			"knows of an issue with W-3, which it does not cover",
		},
		"of a profile": {func(s *Suite,
			_ *scenarios.Scenario,
		) {
			s.Profiles = []Profile{{Variants: []string{"newer", "older"}}}
		}, ""},
		"of no profile": {
			func(s *Suite, _ *scenarios.Scenario) { s.Profiles = []Profile{{Variants: []string{"newer"}}} },
			`the variants ["newer" "older"], which are of no profile`,
		},
		"never what it is": {func(s *Suite, _ *scenarios.Scenario) {
			s.Profiles = []Profile{{Variants: []string{"best", "newer", "older"}}}
		}, "which are of no profile"},
	} {
		t.Run(name, func(t *testing.T) {
			s := Suite{
				Name: "widgets", System: "widgets", Requirements: []Requirement{{ID: "W-1"}, {ID: "W-2"}},
				Scenarios: loadWidgets(t),
			}
			c.change(&s, s.Scenarios[0])
			if err := s.Check(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Suites have different digests, even if only a row's name or a requirement's statement differs.
func TestDigest(t *testing.T) {
	digest := func(change func(*Suite)) string {
		s := Suite{Requirements: []Requirement{{ID: "W-1"}}, Scenarios: loadWidgets(t)}
		change(&s)
		d, err := s.Digest()
		golden.Must(t, err)
		return d
	}
	same := digest(func(*Suite) {})
	if again := digest(func(*Suite) {}); again != same || len(same) != 16 {
		t.Errorf("%s, then %s", same, again)
	}
	for name, change := range map[string]func(*Suite){
		"requirement": func(s *Suite) { s.Requirements[0].Statement = "x" },
		"scenario":    func(s *Suite) { s.Scenarios[0].Spec.Covers = nil },
		"row":         func(s *Suite) { s.Scenarios[0].CaseName = "x" },
	} {
		if digest(change) == same {
			t.Errorf("another %s has the same digest", name)
		}
	}
}

func TestProfile(t *testing.T) {
	s := Suite{Name: "widgets", Profiles: []Profile{{Name: "a"}, {Name: "b", Variants: []string{"x"}}}}
	if p, err := s.Profile("b"); err != nil || p.Variants[0] != "x" {
		t.Errorf("%v, %v", p, err)
	}
	if _, err := s.Profile("c"); err == nil || !strings.Contains(err.Error(), `has no profile "c"; it has ["a" "b"]`) {
		t.Errorf("got %v", err)
	}
	if _, err := (Suite{Name: "widgets"}).Profile("c"); err == nil || !strings.Contains(err.Error(),
		"suite widgets has no profiles") {
		t.Errorf("got %v", err)
	}
}
