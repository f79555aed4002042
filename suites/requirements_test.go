package suites

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rehearse-dev/rehearse/scenarios"
)

func load(text string) ([]Requirement, error) {
	return LoadRequirements(fstest.MapFS{"r.yaml": {Data: []byte(text)}}, "r.yaml")
}

func TestLoadRequirements(t *testing.T) {
	got, err := load(`
- id: KEP1-S1
  level: core
  statement: Water is wet.
  source: Chapter 1
- {id: KEP1-S2, level: extended, statement: Fire is hot., source: Chapter 2, noFault: Nobody makes cold fire.,
   variants: [{name: red, source: Chapter 3}, {name: blue, source: Chapter 4}]}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Requirement{
		{ID: "KEP1-S1", Level: Core, Statement: "Water is wet.", Source: "Chapter 1"},
		{
			ID: "KEP1-S2", Level: Extended, Statement: "Fire is hot.", Source: "Chapter 2", NoFault: "Nobody makes cold fire.",
			Variants: []Variant{{Name: "red", Source: "Chapter 3"}, {Name: "blue", Source: "Chapter 4"}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestLoadRequirementsRejects(t *testing.T) {
	const rest = "level: core, statement: s, source: o"
	for name, c := range map[string]struct{ text, want string }{
		"nothing":       {"", "reading requirements from r.yaml: want a list of requirements"},
		"an empty list": {"[]", "want a list of requirements"},
		"a mapping":     {"id: A", "want a list of requirements"},
		"two documents": {"- {id: A, " + rest + "}\n---\n- {id: B, " + rest + "}", "want one YAML document"},
		"broken YAML":   {"- {id: A", "reading requirements from r.yaml: yaml: line 1"},
		"broken later":  {"- {id: A, " + rest + "}\n---\n{", "want one YAML document"},
		"no mapping":    {"- A", "r.yaml:1: want a requirement"},
		"unknown field": {"- {id: A, sources: o}", `r.yaml:1: unknown field "sources"`},
		"field twice":   {"- {id: A, id: B}", "r.yaml:1: the field id is here a second time"},
		"id twice": {
			"- {id: A, " + rest + "}\n- {id: A, " + rest + "}",
			"r.yaml:2: requirement A is here a second time; the first is in line 1",
		},
		"no id":         {"- {" + rest + "}", "r.yaml:1: the requirement has no id"},
		"bad id":        {"- {id: A b, " + rest + "}", `id "A b"`},
		"number for id": {"- {id: 1, " + rest + "}", "the field id must be a text that is not empty"},
		"no level":      {"- {id: A, statement: s, source: o}", `level "" is neither core nor extended`},
		"bad level":     {"- {id: A, level: Core, statement: s, source: o}", `level "Core" is neither`},
		"no statement":  {"- {id: A, level: core, source: o}", "requirement A has no statement"},
		"no source":     {"- {id: A, level: core, statement: s}", "requirement A has no source"},
		"one variant":   {"- {id: A, " + rest + ", variants: [{name: n, source: o}]}", "must be a list of two or more"},
		"bad variant": {
			"- {id: A, " + rest + ", variants: [{name: n, source: o}, {nam: n}]}",
			`unknown field "nam": a variant has name and source`,
		},
		"lone variant": {
			"- {id: A, " + rest + ", variants: [{name: n, source: o}, {name: n}]}",
			"a variant needs a name and a source",
		},
		"variants twice": {
			"- {id: A, variants: [{name: n, source: o}, {name: m, source: o}], variants: []}",
			"the field variants is here a second time",
		},
		"empty reason": {"- {id: A, " + rest + ", noFault: ''}", "the field noFault must be a text that is not empty"},
		"empty source": {
			"- {id: A, level: core, statement: s, source: ''}",
			"the field source must be a text that is not empty",
		},
		"several at once": {"- {id: A, level: no, statement: s, source: o}\n- B", "r.yaml:2: want a requirement"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := load(c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
			if got != nil {
				t.Errorf("got %v along with an error", got)
			}
		})
	}
}

func TestLoadRequirementsWithoutAFile(t *testing.T) {
	if _, err := LoadRequirements(fstest.MapFS{}, "r.yaml"); err == nil || !strings.Contains(err.Error(),
		"reading requirements: open r.yaml") {
		t.Errorf("got %v", err)
	}
}

func TestCoverage(t *testing.T) {
	requirements := []Requirement{{ID: "A"}, {ID: "B"}, {ID: "C"}}
	scenario := func(name string, line int, known string, covers ...string) *scenarios.Scenario {
		s := &scenarios.Scenario{Metadata: scenarios.Metadata{Name: name}, Position: scenarios.Position{
			File: "s.yaml",
			Line: line, Column: 1,
		}}
		s.Spec.Covers = covers
		if known != "" {
			s.Spec.Known = []scenarios.KnownIssue{{Covers: []string{known}}}
		}
		return s
	}
	for name, c := range map[string]struct {
		scenarios []*scenarios.Scenario
		uncovered []string
		unknown   []string
	}{
		"no scenario": {uncovered: []string{"A", "B", "C"}},
		"all": {scenarios: []*scenarios.Scenario{
			scenario("s", 1, "", "A", "B"),
			scenario("t", 9, "A", "C", "A"),
		}},
		"known is not covered": {
			scenarios: []*scenarios.Scenario{scenario("s", 1, "C", "A", "B")},
			uncovered: []string{"C"},
		},
		"rows are said once": {scenarios: []*scenarios.Scenario{
			scenario("s", 1, "", "A", "B", "C", "X"),
			scenario("s", 1, "", "X"),
		}, unknown: []string{"s.yaml:1:1: scenario s covers X, which is no requirement"}},
		"two scenarios, one id": {scenarios: []*scenarios.Scenario{
			scenario("s", 1, "", "A", "B", "C", "X"),
			scenario("t", 9, "X"),
		}, unknown: []string{
			"s.yaml:1:1: scenario s covers X, which is no requirement",
			"s.yaml:9:1: scenario t covers X, which is no requirement",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			missing, strange := Coverage(requirements, c.scenarios)
			var uncovered, unknown []string
			for _, r := range missing {
				uncovered = append(uncovered, r.ID)
			}
			for _, u := range strange {
				unknown = append(unknown, u.String())
			}
			if !reflect.DeepEqual(uncovered, c.uncovered) || !reflect.DeepEqual(unknown, c.unknown) {
				t.Errorf("uncovered %q, unknown %q; want %q and %q", uncovered, unknown, c.uncovered, c.unknown)
			}
		})
	}
}
