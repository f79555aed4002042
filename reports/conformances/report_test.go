package conformances_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/conformances"
	"github.com/rehearse-dev/rehearse/reports/internal/reporttest"
)

// conforming returns a report of a simulator that has every result of a requirement.
func conforming() *conformances.Report {
	r := &conformances.Report{
		APIVersion: conformances.APIVersion, Kind: conformances.Kind, Date: reporttest.Began,
		Suite:   conformances.Suite{Name: "gadgets", Digest: "00112233445566aa"},
		Profile: "webhook",
		Implementation: conformances.Implementation{
			Organization: "acme", Project: "gadget-operator", URL: "https://example.com/gadgets", Version: "1.2.3",
			Contact: []string{"@acme/gadgets"},
		},
		Requirements: []conformances.Requirement{
			{
				ID: "G-1", Level: "core", Statement: "A gadget has a name.", Source: "Chapter 1",
				Scenarios: conformances.Evidence{Passed: []string{"named", "renamed [a|b]"}},
			},
			{
				ID: "G-2", Level: "core", Statement: "A gadget is not called \"bad\".", Source: "Chapter 2",
				Scenarios: conformances.Evidence{Passed: []string{"named"}, Failed: []string{"bad"}},
			},
			{
				ID: "G-10", Level: "core", Statement: "A gadget survives.", Source: "Chapter 3",
				Scenarios: conformances.Evidence{Passed: []string{"named"}, Known: []string{"old"}},
			},
			{
				ID: "G-9", Level: "extended", Statement: "A gadget can be told from others.", Source: "Chapter 4",
				Scenarios: conformances.Evidence{
					Passed: []string{"named"}, Untested: []string{"broken", "broken [2]"},
					Ended: []string{"old"},
				},
			},
			{
				ID: "G-11", Level: "extended", Statement: "A gadget can be undone.", Source: "Chapter 5",
				Scenarios: conformances.Evidence{Skipped: []string{"skipped"}},
			},
		},
		OutsideProfile: []string{"G-20"},
		Scenarios: []conformances.Scenario{
			{
				Name: "named", Status: conformances.Passed, Source: "scenarios/gadgets/a.yaml:1",
				Path: []string{"1.36.3 gadgets(simulated, variant webhook)"}, Variants: []string{"webhook"}, Steps: "3 of 3",
			},
			{
				Name: "renamed [a|b]", Status: conformances.Passed, Source: "scenarios/gadgets/a.yaml:20",
				Variants: []string{"older", "webhook"}, Steps: "1 of 1",
				Reason: "known issue did not happen at step \"x\": it is old; remove it from `known`",
			},
			{
				Name: "bad", Status: conformances.Failed, Source: "scenarios/gadgets/b.yaml:1",
				Variants: []string{"webhook"}, Steps: "1 of 2", Reason: "a bad name: it was accepted",
				Evidence: "step 2 of 2: a bad name (create)\n\nit was accepted\n```\nseen: <Gadget>\n```",
			},
			{
				Name: "old", Status: conformances.Known, Source: "scenarios/gadgets/b.yaml:9", Steps: "1 of 2",
				Reason: "It is lost. (https://example.com/1)", Evidence: "it is gone",
			},
			{
				Name: "broken", Status: conformances.Untested, Source: "scenarios/gadgets/c.yaml:1", Steps: "0 of 2",
				Reason: "the cluster broke", Evidence: "the cluster broke",
			},
			{
				Name: "broken [2]", Status: conformances.Untested, Source: "scenarios/gadgets/c.yaml:1", Steps: "0 of 2",
				Reason: "the cluster broke",
			},
			{
				Name: "skipped", Status: conformances.Skipped, Source: "scenarios/gadgets/d.yaml:1",
				Reason: "the clusters of provider existing can't be changed",
			},
		},
		Reproduce: conformances.Reproduction{
			Command: "rehearse conformance gadgets --profile webhook", Rehearse: "v0.1.0",
			Provider: "local", Kubernetes: []string{"1.35.4", "1.36.3"},
		},
	}
	r.Conclude()
	return r
}

// perfect returns a report in which everything passed.
func perfect() *conformances.Report {
	r := conforming()
	r.Requirements, r.Scenarios, r.OutsideProfile, r.Profile = r.Requirements[:1], r.Scenarios[:2], nil, ""
	r.Conclude()
	return r
}

func TestConformanceReport(t *testing.T) {
	for name, r := range map[string]*conformances.Report{"mixed": conforming(), "perfect": perfect()} {
		t.Run(name, func(t *testing.T) {
			data, err := conformances.YAML(r)
			golden.Must(t, err)
			golden.Check(t, "testdata/"+name+".yaml", string(data))
			golden.Check(t, "testdata/"+name+".md", conformances.Markdown(r))
			read, err := conformances.Read(data)
			if err != nil || !reflect.DeepEqual(read, r) {
				t.Errorf("what was read back differs: %v\n%+v", err, read)
			}
		})
	}
}

func TestConformanceConclusions(t *testing.T) {
	e := func(passed, failed, known, untested, ended int) conformances.Evidence {
		names := func(n int) []string { return []string{"a", "b", "c"}[:n] }
		return conformances.Evidence{
			Passed: names(passed), Failed: names(failed), Known: names(known),
			Untested: names(untested), Ended: names(ended),
		}
	}
	for name, c := range map[string]struct {
		core     []conformances.Evidence
		statuses string
		result   conformances.Result
		code     int
	}{
		"nothing": {nil, "", conformances.NothingRequired, 3},
		"all passed": {
			[]conformances.Evidence{e(1, 0, 0, 0, 0), e(2, 0, 0, 0, 0)},
			"passed passed", conformances.Success, 0,
		},
		"no scenario": {
			[]conformances.Evidence{e(1, 0, 0, 0, 0), e(0, 0, 0, 0, 0)},
			"passed untested", conformances.Partial, 3,
		},
		"one failed": {[]conformances.Evidence{e(2, 1, 1, 1, 0)}, "failed", conformances.Failure, 1},
		"failure outranks what is not known": {
			[]conformances.Evidence{e(0, 1, 0, 0, 0), e(0, 0, 0, 1, 0)},
			"failed untested", conformances.Failure, 1,
		},
		"one known": {[]conformances.Evidence{e(2, 0, 1, 1, 0)}, "known", conformances.Partial, 0},
		"one not judged": {
			[]conformances.Evidence{e(2, 0, 0, 1, 0)},
			"untested", conformances.Partial,
			3,
		},
		"one ended early": {[]conformances.Evidence{e(1, 0, 0, 0, 1)}, "passed", conformances.Success, 0},
		"all ended early": {
			[]conformances.Evidence{e(0, 0, 0, 0, 2)},
			"untested", conformances.Partial,
			3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &conformances.Report{}
			for _, evidence := range c.core {
				r.Requirements = append(r.Requirements, conformances.Requirement{Level: "core", Scenarios: evidence})
			}
			r.Conclude()
			var statuses []string
			for _, q := range r.Requirements {
				statuses = append(statuses, string(q.Status))
				if (q.Reason == "") != (q.Status == conformances.Passed) {
					t.Errorf("%s because of %q", q.Status, q.Reason)
				}
			}
			if got := strings.Join(statuses, " "); got != c.statuses || r.Core.Result != c.result || r.ExitCode() != c.code {
				t.Errorf("%s, %s, exit code %d; want %s, %s, %d", got, r.Core.Result, r.ExitCode(), c.statuses, c.result, c.code)
			}
			r.Interrupted = true
			if r.ExitCode() != 130 {
				t.Errorf("interrupted: exit code %d", r.ExitCode())
			}
		})
	}
}

func TestReadConformanceRejects(t *testing.T) {
	data, err := conformances.YAML(conforming())
	golden.Must(t, err)
	for name, c := range map[string]struct{ old, with, want string }{
		"another kind":     {"kind: ConformanceReport", "kind: Scenario", `not "rehearse.dev/v1alpha1" "Scenario"`},
		"an unknown field": {"summary:", "sumary:", "field sumary not found"},
		"a better requirement": {
			"status: failed\n    reason", "status: passed\n    reason",
			"requirement G-2 is reported as passed, but according to its scenarios it is failed",
		},
		"a better scenario": {
			"status: failed\n    source", "status: passed\n    source",
			"requirement G-2 counts scenario bad as failed, but it is \"passed\"",
		},
		"a better level": {"result: failure", "result: success", "core is reported as success"},
		"another number": {"untested: 2", "untested: 1", "extended is reported as partial"},
		"another variant": {
			"name: older\n    passed: 1", "name: older\n    passed: 2",
			"do not follow from the scenarios",
		},
		"an unknown level":    {"level: extended", "level: optional", `requirement G-9 has the level "optional"`},
		"a requirement twice": {"id: G-9", "id: G-1", "requirement G-1 is there twice"},
		"an unknown scenario": {
			"passed:\n        - named", "passed:\n        - gone",
			`counts scenario gone as passed, but it is ""`,
		},
		"nobody's":      {"organization: acme", "organization: ''", "the implementation's organization is missing"},
		"two documents": {"apiVersion", "---\na: b\n---\napiVersion", "reading a conformance report"},
		"a step that decided in a scenario that passed": {
			"passed:\n        - named\n        - renamed [a|b]", "failed:\n        - named\n      decided: {named: step 1}",
			`counts scenario named as failed, but it is "passed"`,
		},
		"an unstable requirement without runs": {
			"status: failed\n    reason", "status: unstable\n    runs: [failed, failed]\n    reason",
			"requirement G-2 is reported as unstable",
		},
		"a second document": {
			"provider: local", "provider: local\n  kubernetes: []\n---\nx: y\nz:",
			"want one YAML document",
		},
		"an unknown status":      {"status: skipped", "status: fine", `scenario skipped has the status "fine"`},
		"a scenario twice":       {"- name: bad", "- name: named", "scenario named is there twice"},
		"something else than it": {string(data), "- a", "cannot unmarshal"},
		"nothing":                {string(data), "", "it is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(string(data), c.old, c.with, 1)
			if text == string(data) {
				t.Fatalf("%q is not in the report", c.old)
			}
			_, err := conformances.Read([]byte(text))
			golden.Error(t, err, c.want)
		})
	}
}

func TestImplementationValidate(t *testing.T) {
	good := conforming().Implementation
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	err := conformances.Implementation{URL: "acme", Organization: "a\nb", Contact: []string{" "}}.Validate()
	for _, want := range []string{
		"organization has more than one line", "project is missing", "version is missing",
		`url "acme" is not a URL`, "a contact of the implementation is empty",
	} {
		golden.Error(t, err, want)
	}
	golden.Error(t, (conformances.Implementation{}).Validate(), "contact is missing")
}

func TestDiffConformance(t *testing.T) {
	after := conforming()
	after.Implementation.Version, after.Suite.Digest, after.Reproduce.Kubernetes = "1.3.0", "ffffffffffffffff",
		[]string{"1.36.3"}
	after.Scenarios[0].Status, after.Scenarios[0].Reason = conformances.Failed, "named: it has none"
	after.Scenarios[4].Status, after.Scenarios[5].Status = conformances.Passed, conformances.Passed
	after.Requirements[0].Scenarios = conformances.Evidence{
		Passed: []string{"renamed [a|b]"},
		Failed: []string{"named"},
	}
	after.Requirements[1].Scenarios = conformances.Evidence{Failed: []string{"named"}}
	after.Requirements[2].Scenarios.Passed = nil
	after.Requirements[3].Scenarios = conformances.Evidence{Passed: []string{"broken", "broken [2]"}}
	after.Requirements[3].Level = "core"
	after.Requirements[4].ID = "G-12"
	after.Conclude()
	worse, err := conformances.Compare(conforming(), after)
	golden.Must(t, err)
	golden.Check(t, "testdata/diff.txt", worse.String())
	if worse.Same() || worse.Worse() != 1 || worse.Better() != 1 {
		t.Errorf("same %t, worse %d, better %d", worse.Same(), worse.Worse(), worse.Better())
	}
	same, err := conformances.Compare(conforming(), conforming())
	if err != nil || !same.Same() || !strings.Contains(same.String(), "no requirement differs") {
		t.Errorf("%v: %s", err, same)
	}
	after.Suite.Name = "widgets"
	_, err = conformances.Compare(conforming(), after)
	golden.Error(t, err, "one is of suite gadgets, the other of suite widgets")
}

// A requirement that is no longer judged is not better. A new one that fails is worse. One that is no longer required
// is neither.
func TestDirectionsOfChanges(t *testing.T) {
	const none conformances.Status = ""
	report := func(status conformances.Status) *conformances.Report {
		r := &conformances.Report{}
		if status != none {
			r.Requirements = []conformances.Requirement{{ID: "G-1", Status: status}}
		}
		return r
	}
	for _, test := range []struct {
		before, after conformances.Status
		want          string
	}{
		{conformances.Failed, conformances.Passed, "better"},
		{conformances.Untested, conformances.Passed, "better"},
		{conformances.Passed, conformances.Untested, "worse"},
		{conformances.Untested, conformances.Failed, "worse"},
		{conformances.Passed, conformances.Unstable, "worse"},
		{conformances.Failed, conformances.Untested, "neither"},
		{conformances.Unstable, conformances.Untested, "neither"},
		{conformances.Known, conformances.Untested, "neither"},
		{none, conformances.Failed, "worse"},
		{none, conformances.Unstable, "worse"},
		{none, conformances.Known, "neither"},
		{none, conformances.Untested, "neither"},
		{none, conformances.Passed, "neither"},
		{conformances.Passed, none, "neither"},
		{conformances.Failed, none, "neither"},
	} {
		d, err := conformances.Compare(report(test.before), report(test.after))
		golden.Must(t, err)
		got := map[[2]int]string{{1, 0}: "worse", {0, 1}: "better", {0, 0}: "neither"}[[2]int{d.Worse(), d.Better()}]
		if got != test.want || d.Same() {
			t.Errorf("%q -> %q: got %s, want %s", test.before, test.after, got, test.want)
		}
	}
}

// A report has the same bytes each time it is written.
func TestConformanceIsStable(t *testing.T) {
	first, err := conformances.YAML(conforming())
	golden.Must(t, err)
	for range 20 {
		if again, err := conformances.YAML(conforming()); err != nil || !bytes.Equal(first, again) {
			t.Fatalf("%v:\n%s", err, again)
		}
	}
}
