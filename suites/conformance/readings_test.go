package conformance

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/conformances"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/cases"
)

const otherReading = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: round, labels: {reading: round}}
spec:
  covers: [G-1]
  cluster: {version: "1.36", systems: [{name: gadgets, simulated: {variant: older}}]}
  steps:
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
`

// readable is a plan of the suite in which G-1 has two readings.
func readable(t *testing.T, o Options) *Plan {
	t.Helper()
	p := plan(t, o)
	set, err := scenarios.LoadBytes("readings.yaml", []byte(otherReading))
	golden.Must(t, err)
	p.options.Suite.Scenarios = append(p.options.Suite.Scenarios, set.Scenarios...)
	p.options.Suite.Requirements[0].Variants = []suites.Variant{
		{Name: "square", Source: "Chapter 1"},
		{Name: "round", Source: "Chapter 9"},
	}
	if err := p.options.Suite.Check(); err == nil || strings.Contains(err.Error(), "it shows the reading") {
		t.Fatalf("the suite: %v", err)
	}
	return p
}

func TestReadings(t *testing.T) {
	failed := map[string]reports.Scenario{"named [crd]": {Status: reports.Failed, Message: "it is not square"}}
	for name, c := range map[string]struct {
		outcomes map[string]reports.Scenario
		round    reports.Status
		want     string
	}{
		"as it is stated":   {nil, "", "passed as square"},
		"in another way":    {failed, reports.Passed, "passed as round"},
		"in no way":         {failed, reports.Failed, "failed as "},
		"in one not judged": {failed, reports.Error, "untested as "},
	} {
		t.Run(name, func(t *testing.T) {
			p := readable(t, Options{})
			results := Results{Run: ran(p, c.outcomes)}
			readings, err := p.Readings(t.Context(), results.Run)
			if err != nil || (readings == nil) != (c.round == "") {
				t.Fatalf("%v, %v", readings, err)
			}
			if readings != nil {
				results.Readings = readings.Result()
				shown := results.Readings.Tracks[0].Scenarios[0]
				shown.Status, shown.Steps[0].Status = c.round, c.round
			}
			r, err := p.Report(results, About{})
			golden.Must(t, err)
			q := r.Requirements[0]
			if got := string(q.Status) + " as " + q.Variant; got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if c.want == "passed as round" && (!slices.Equal(q.Scenarios.Passed, []string{"round"}) ||
				!slices.Contains(q.Scenarios.Others, "named [crd]")) {
				t.Errorf("the evidence is %+v", q.Scenarios)
			}
		})
	}
}

// The other reading is tested with the implementation, not with the simulator's variant that shows it.
func TestReadingsOfWhatIsTested(t *testing.T) {
	for name, c := range map[string]struct {
		options Options
		want    string
	}{
		"the simulator": {Options{Faults: []string{"bad"}}, "gadgets(simulated, faults bad)"},
		"of a profile":  {Options{Profile: "crd"}, "gadgets(simulated, variant crd)"},
		"a program": {Options{
			Profile:     "crd",
			Substitutes: []Substitute{{System: "gadgets", Definition: process("true")}},
		}, "gadgets(process"},
	} {
		t.Run(name, func(t *testing.T) {
			p := readable(t, c.options)
			readings, err := p.Readings(t.Context(),
				ran(p, map[string]reports.Scenario{"named [crd]": {Status: reports.Failed}}))
			golden.Must(t, err)
			if got := readings.Tracks[0].Path[0].String(); !strings.Contains(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// The other reading is tested with the simulator that its scenario names, and the configuration that it gives.
func TestReadingsKeepTheConfiguration(t *testing.T) {
	p := readable(t, Options{Profile: "crd"})
	c := &scenarios.Scenario{}
	c.Spec.Cluster.Systems = []clusters.System{
		{Name: "gadgets", Simulated: &clusters.Simulated{
			Simulator: "gadget-simulator", Variant: "webhook", Config: map[string]any{"size": "big"},
		}},
	}
	tested := p.underTest(c).Spec.Cluster.Systems[0].Simulated
	if tested.Simulator != "gadget-simulator" || tested.Variant != "crd" || tested.Config["size"] != "big" {
		t.Errorf("%+v", tested)
	}
}

func rule(variant string) cases.Rule {
	return cases.Rule{
		Name: "names [" + variant + "]", Covers: []string{"G-1", "G-5"},
		State: clusters.State{
			Version: "1.36",
			Systems: []clusters.System{{Name: "gadgets", Simulated: &clusters.Simulated{Variant: variant}}},
		},
	}
}

func TestRules(t *testing.T) {
	for name, c := range map[string]struct {
		options Options
		want    []string
	}{
		"all":       {Options{}, []string{"simulated, variant webhook", "simulated, variant crd"}},
		"a profile": {Options{Profile: "crd", Faults: []string{"bad"}}, []string{"simulated, variant crd, faults bad"}},
		"a program": {
			Options{Profile: "crd", Substitutes: []Substitute{{System: "gadgets", Definition: process("true")}}},
			[]string{"process"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, c.options)
			p.options.Suite.Rules = []cases.Rule{rule("webhook"), rule("crd")}
			rules := p.Rules()
			if len(rules) != len(c.want) {
				t.Fatalf("%d rules, want %d", len(rules), len(c.want))
			}
			for i, want := range c.want {
				if got := rules[i].State.String(); !strings.Contains(got, want) {
					t.Errorf("%s, want %s", got, want)
				}
			}
		})
	}
}

func TestGeneratedCases(t *testing.T) {
	for name, c := range map[string]struct {
		result cases.Result
		want   string
		status reports.Status
		about  string
	}{
		"all agree": {
			cases.Result{Judged: 1000, About: map[string]int{"G-1": 999, "G-5": 1}},
			"G-1 passed, G-2 passed, G-3 passed, G-4 passed, G-5 passed",
			reports.Passed, "G-1 G-5",
		},
		"no case was about one": {
			cases.Result{Judged: 1, About: map[string]int{"G-1": 1}},
			"G-1 passed, G-2 passed, G-3 passed, G-4 passed, G-5 untested",
			reports.Passed, "G-1",
		},
		"one does not": {
			cases.Result{
				Judged:       3,
				Disagreement: &cases.Disagreement{Case: cases.Case{Input: "A", Requirement: "G-1"}, Got: "accepted"},
			},
			"G-1 failed, G-2 passed, G-3 passed, G-4 passed, G-5 untested",
			reports.Failed, "G-1",
		},
		"by no requirement of the rule": {cases.Result{Disagreement: &cases.Disagreement{Case: cases.Case{
			Input:       "A",
			Requirement: "G-2",
		}, Got: "accepted"}}, "G-1 failed, G-2 passed, G-3 passed, G-4 passed, G-5 failed", reports.Failed, "G-1 G-5"},
		"one does not, and then nobody can": {
			cases.Result{
				Judged: 3, Err: errors.New("it broke"),
				Disagreement: &cases.Disagreement{Case: cases.Case{Input: "A", Requirement: "G-1"}, Got: "accepted"},
			},
			"G-1 failed, G-2 passed, G-3 passed, G-4 passed, G-5 untested",
			reports.Failed, "G-1",
		},
		"nobody can judge": {
			cases.Result{Err: errors.New("it broke")},
			"G-1 untested, G-2 passed, G-3 passed, G-4 passed, G-5 untested",
			reports.Error, "G-1 G-5",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, Options{})
			c.result.Rule, c.result.Seed = rule("crd"), 42
			about := About{Implementation: conformances.Implementation{
				Organization: "acme", Project: "gadgets", URL: "https://example.com", Version: "1", Contact: []string{"@acme"},
			}}
			r, err := p.Report(Results{Run: ran(p, nil), Cases: []cases.Result{c.result}}, about)
			golden.Must(t, err)
			if got := statuses(r); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			p.options.Suite.Rules = []cases.Rule{c.result.Rule}
			run := ran(p, nil)
			for _, test := range []struct {
				results []cases.Result
				status  reports.Status
			}{{nil, reports.NotRun}, {[]cases.Result{c.result}, c.status}} {
				whole := p.WithCases(run, test.results)
				got := whole.Tracks[len(run.Tracks)].Scenarios[0]
				if got.Status != test.status || (got.Message == "") != (got.Status == reports.Passed) {
					t.Errorf("the run has %s: %s, %q; want %s", got.Name, got.Status, got.Message, test.status)
				}
				if covers := strings.Join(got.Covers, " "); test.results != nil && covers != c.about {
					t.Errorf("the run's scenario is about %s, want %s", covers, c.about)
				}
			}
			last := r.Scenarios[len(r.Scenarios)-1]
			if last.Cases == nil || last.Cases.Seed != 42 || last.Cases.Agreed != c.result.Judged ||
				(last.Cases.Disagreement != "") != (c.result.Disagreement != nil) {
				t.Errorf("%s: %+v", last.Name, last.Cases)
			}
			// The report of the run, without the cases themselves, says the same.
			later, err := p.Report(Results{Run: p.WithCases(run, []cases.Result{c.result})}, about)
			golden.Must(t, err)
			if got := statuses(later); got != c.want {
				t.Errorf("later: got  %s\nwant %s", got, c.want)
			}
			for _, one := range []*conformances.Report{r, later} {
				data, err := conformances.YAML(one)
				golden.Must(t, err)
				if _, err := conformances.Read(data); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
