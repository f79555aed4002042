package conformance

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/conformances"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// paper is a provider of one cluster that is never used. It does not support version 1.35.
type paper struct{ clusters.Provider }

func (paper) Name() string { return "paper" }

func (paper) Borrowed() string { return "cluster paper" }

func (paper) Reach(context.Context) error { return nil }

func (paper) Resolve(_ context.Context, state clusters.State) (clusters.State, error) {
	state.Version += ".0"
	return state, nil
}

func (paper) Check(_ context.Context, path []clusters.State) error {
	for _, state := range path {
		if state.Version == "1.35.0" {
			return errors.New("paper has no 1.35")
		}
	}
	return nil
}

func gadgets(t *testing.T) suites.Suite {
	t.Helper()
	set, err := scenarios.Load([]string{"testdata/scenarios.yaml"})
	golden.Must(t, err)
	s := suites.Suite{Name: "gadgets", System: "gadgets", Scenarios: set.Scenarios, Profiles: []suites.Profile{
		{Name: "webhook", Variants: []string{"webhook", "older"}}, {Name: "crd", Variants: []string{"crd"}},
	}, Faults: []simulators.Fault{{Name: "bad", Breaks: []string{"G-1"}}}}
	for i := range 5 {
		level := suites.Core
		if i > 2 {
			level = suites.Extended
		}
		s.Requirements = append(s.Requirements, suites.Requirement{
			ID: fmt.Sprintf("G-%d", i+1), Level: level, Statement: fmt.Sprintf("Rule %d holds.", i+1),
			Source: fmt.Sprintf("Chapter %d", i+1),
		})
	}
	return s
}

func simulated() harness.PlanOptions {
	return harness.PlanOptions{Simulators: systems.Simulators{"gadgets": {
		Faults:   []string{"bad"},
		Variants: []string{"webhook", "crd", "older"},
	}}}
}

func plan(t *testing.T, o Options) *Plan {
	t.Helper()
	o.Suite, o.Provider, o.Plan = gadgets(t), paper{}, simulated()
	p, err := NewPlan(t.Context(), o)
	golden.Must(t, err)
	return p
}

// ran returns the plan's result with the given outcomes of its scenarios. Default: passed.
func ran(p *Plan, outcomes map[string]reports.Scenario) *reports.Run {
	run := p.Result()
	run.Started = time.Date(2026, 3, 1, 10, 0, 0, 123, time.UTC)
	for _, one := range p.Skipped {
		one.Report.Status, one.Report.Message = reports.Skipped, one.Why
	}
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			if s.Status == reports.Error || s.Status == reports.Skipped {
				continue // it cannot be planned, or is skipped
			}
			o, told := outcomes[s.Name]
			if !told {
				o.Status = reports.Passed
			}
			s.Status, s.Message, s.KnownIssue, s.KnownCovers = o.Status, o.Message, o.KnownIssue, o.KnownCovers
			for _, step := range s.Steps {
				step.Status = reports.Passed
			}
			if o.Status != reports.Passed && o.KnownIssue == "unexpected" {
				s.KnownIssue = ""
			} else if last := s.Steps[len(s.Steps)-1]; o.Status != reports.Passed {
				last.Status, last.Message = o.Status, o.Message
			}
		}
	}
	return run
}

func report(t *testing.T, p *Plan, run *reports.Run) *conformances.Report {
	t.Helper()
	r, err := p.Report(Results{Run: run}, About{
		Command: "rehearse conformance gadgets", Rehearse: "v0",
		Implementation: conformances.Implementation{
			Organization: "acme", Project: "gadgets", URL: "https://example.com", Version: "1", Contact: []string{"@acme"},
		},
	})
	golden.Must(t, err)
	return r
}

func statuses(r *conformances.Report) string {
	var all []string
	for _, q := range r.Requirements {
		all = append(all, q.ID+" "+string(q.Status))
	}
	return strings.Join(all, ", ")
}

func TestReport(t *testing.T) {
	p := plan(t, Options{})
	r := report(t, p, ran(p, map[string]reports.Scenario{
		"named [crd]": {Status: reports.Failed, Message: "wanted\tthis, \nsaw that"},
		"upgrade": {
			Status: reports.Known, Message: "it is gone", KnownIssue: "It is lost. (https://example.com/1)",
			KnownCovers: []string{"G-3"},
		},
		"faulty": {Status: reports.Error, Message: "the cluster broke"},
	}))
	got, err := conformances.YAML(r)
	golden.Must(t, err)
	golden.Check(t, "testdata/report.yaml", string(got))
	if read, err := conformances.Read(got); err != nil || !reflect.DeepEqual(read, r) {
		t.Errorf("read back: %v", err)
	}
}

func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		outcomes map[string]reports.Scenario
		want     string
	}{
		"all passed": {want: "G-1 passed, G-2 passed, G-3 passed, G-4 passed, G-5 untested"},
		"a known issue ends a scenario early for what it is not about": {
			map[string]reports.Scenario{
				"upgrade":         {Status: reports.Known, KnownCovers: []string{"G-3"}},
				"named [webhook]": {Status: reports.NotRun}, "named [crd]": {Status: reports.NotRun},
			},
			"G-1 untested, G-2 untested, G-3 known, G-4 passed, G-5 untested",
		},
		"an unexpected success is one": {
			map[string]reports.Scenario{"upgrade": {
				Status: reports.Failed, KnownCovers: []string{"G-3"},
				KnownIssue: "unexpected",
			}},
			"G-1 passed, G-2 passed, G-3 passed, G-4 passed, G-5 untested",
		},
		"a failure where an issue is known is none": {
			map[string]reports.Scenario{"upgrade": {Status: reports.Failed, KnownCovers: []string{"G-3"}}},
			"G-1 passed, G-2 failed, G-3 failed, G-4 passed, G-5 untested",
		},
		"what could not be judged is untested": {
			map[string]reports.Scenario{"named [crd]": {Status: reports.Error}},
			"G-1 untested, G-2 untested, G-3 passed, G-4 passed, G-5 untested",
		},
		"an unknown status is no success": {
			map[string]reports.Scenario{"faulty": {Status: "fine"}},
			"G-1 passed, G-2 passed, G-3 passed, G-4 untested, G-5 untested",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, Options{})
			if got := statuses(report(t, p, ran(p, c.outcomes))); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestScenariosThatAreMissingFromTheRun(t *testing.T) {
	p := plan(t, Options{})
	if got := statuses(report(t, p, &reports.Run{Interrupted: true})); strings.Contains(got, "passed") {
		t.Error(got)
	}
}

func TestProfiles(t *testing.T) {
	p := plan(t, Options{Profile: "crd"})
	r := report(t, p, ran(p, nil))
	if got := statuses(r); got != "G-1 passed, G-2 passed, G-4 passed" || !slices.Equal(r.OutsideProfile,
		[]string{"G-3", "G-5"}) {
		t.Errorf("%s; outside %q", got, r.OutsideProfile)
	}
	for _, s := range r.Scenarios {
		if s.Name == "upgrade" || s.Name == "named [webhook]" {
			t.Errorf("%s is in the report", s.Name)
		}
	}
}

func process(program string) clusters.System {
	return clusters.System{Process: &clusters.SystemProcess{Command: []string{program}}}
}

func TestSubstitutes(t *testing.T) {
	p := plan(t, Options{Profile: "webhook", Substitutes: []Substitute{{System: "gadgets", Definition: process("true")}}})
	r := report(t, p, ran(p, nil))
	if got := statuses(r); got != "G-1 passed, G-2 passed, G-3 untested, G-4 untested" {
		t.Error(got)
	}
	for title, want := range map[string]string{
		"upgrade":   "it needs variant older of system gadgets, which is not given",
		"faulty":    "it gives the simulator of gadgets faults",
		"elsewhere": "paper has no 1.35",
	} {
		if !strings.Contains(p.selection.why[title], want) {
			t.Errorf("%s is left out because %q, want %q", title, p.selection.why[title], want)
		}
		if !slices.ContainsFunc(p.Skipped, func(s *planning.Skipped) bool {
			return s.Report.Name == title && strings.Contains(s.Why, want)
		}) {
			t.Errorf("%s is not skipped in the run, and so not in junit.xml", title)
		}
	}
	p = plan(t, Options{Profile: "webhook", Substitutes: []Substitute{
		{System: "gadgets", Definition: process("true")}, {System: "gadgets", Variant: "older", Definition: process("false")},
	}})
	found := false
	for _, c := range p.Scenarios() {
		for _, state := range c.Path() {
			if system, _ := state.System("gadgets"); system.Simulated != nil || system.Process == nil {
				t.Errorf("%s runs the simulator: %s", c.Title(), state)
			}
		}
		if c.Title() == "upgrade" {
			found = true
			if before, after := c.Path()[0].Systems[0], c.Path()[1].Systems[0]; before.Process.Command[0] != "false" ||
				after.Process.Command[0] != "true" {
				t.Errorf("upgrade goes from %v to %v", before.Process.Command, after.Process.Command)
			}
		}
	}
	if !found {
		t.Error("upgrade is left out: " + p.selection.why["upgrade"])
	}
	for _, c := range gadgets(t).Scenarios {
		for _, state := range c.Path() {
			if state.Systems[0].Simulated == nil {
				t.Errorf("the suite's own scenario %s was changed", c.Title())
			}
		}
	}
}

// poor is a provider that has no 1.35, although it supports every version.
type poor struct{ clusters.Provider }

func (poor) Name() string { return "poor" }

func (poor) Resolve(ctx context.Context, state clusters.State) (clusters.State, error) {
	if state.Version == "1.35" {
		return state, errors.New("1.35 is not in the cache")
	}
	return paper{}.Resolve(ctx, state)
}

func (poor) Check(context.Context, []clusters.State) error { return nil }

// What cannot be planned for another reason than the provider is never silent: its requirements are untested.
func TestUnplanned(t *testing.T) {
	broken := func(s *suites.Suite) {
		for _, c := range s.Scenarios {
			if c.Title() == "faulty" {
				c.Spec.Cluster.Systems[0].Simulated.Faults = []string{"missing"}
			}
		}
	}
	for name, c := range map[string]struct {
		provider  clusters.Provider
		change    func(*suites.Suite)
		statuses  string
		unplanned []string
		code      int
	}{
		"what the provider does not support is skipped": {
			paper{}, nil, "G-1 passed, G-2 passed, G-3 passed, G-4 passed", nil, reports.ExitPassed,
		},
		"an unavailable version": {
			poor{},
			nil, "G-1 untested, G-2 passed, G-3 passed, G-4 passed",
			[]string{"elsewhere: it cannot be planned: ", "1.35 is not in the cache"},
			reports.ExitError,
		},
		"a mistake in a scenario": {
			paper{},
			broken, "G-1 passed, G-2 passed, G-3 passed, G-4 untested",
			[]string{"faulty: it cannot be planned: ", `simulator gadgets has no fault "missing"`},
			reports.ExitError,
		},
	} {
		t.Run(name, func(t *testing.T) {
			suite := gadgets(t)
			suite.Requirements = suite.Requirements[:4]
			if c.change != nil {
				c.change(&suite)
			}
			p, err := NewPlan(t.Context(), Options{Suite: suite, Provider: c.provider, Plan: simulated()})
			golden.Must(t, err)
			r := report(t, p, ran(p, nil))
			if got := statuses(r); got != c.statuses || r.ExitCode() != c.code {
				t.Errorf("got %s, exit code %d; want %s, %d", got, r.ExitCode(), c.statuses, c.code)
			}
			if err := p.Made(ran(p, nil)); err != nil {
				t.Error(err)
			}
			if _, unable := c.provider.(paper); unable != (len(p.Skipped) == 1) {
				t.Errorf("the run has %d skipped scenarios", len(p.Skipped))
			}
			lines := strings.Join(p.Unplanned(), "\n")
			if (lines == "") != (c.unplanned == nil) {
				t.Errorf("not planned: %q, want %q", lines, c.unplanned)
			}
			for _, want := range c.unplanned {
				if !strings.Contains(lines, want) {
					t.Errorf("not planned: %q, want %q", lines, want)
				}
			}
			for _, q := range r.Requirements {
				if q.Status == conformances.Untested && !strings.Contains(q.Reason, c.unplanned[1]) {
					t.Errorf("%s is untested because %q, want %q", q.ID, q.Reason, c.unplanned[1])
				}
			}
		})
	}
}

// A report that a step decided, or that was made of several runs, can be read back and compared.
func TestReportsAreReadBack(t *testing.T) {
	// decided returns the report of a run in which each requirement of the scenario upgrade has a step of its own.
	decided := func(status, second reports.Status) *conformances.Report {
		p := plan(t, Options{})
		run := ran(p, map[string]reports.Scenario{"upgrade": {Status: status, Message: "it is gone"}})
		for _, track := range run.Tracks {
			for _, s := range track.Scenarios {
				if s.Name == "upgrade" {
					s.Steps[0].Covers, s.Steps[1].Covers = []string{"G-2"}, []string{"G-3"}
					s.Steps[1].Status = second
				}
			}
		}
		return report(t, p, run)
	}
	for name, c := range map[string]struct {
		report *conformances.Report
		want   string
	}{
		"one step failed": {
			decided(reports.Failed, reports.Failed), "G-1 passed, G-2 passed, G-3 failed, G-4 passed, G-5 untested",
		},
		"one step did not run": {
			decided(reports.Failed, reports.NotRun), "G-1 passed, G-2 passed, G-3 untested, G-4 passed, G-5 untested",
		},
		"one step is known to fail": {
			decided(reports.Known, reports.Known), "G-1 passed, G-2 passed, G-3 known, G-4 passed, G-5 untested",
		},
		"one step was not judged": {
			decided(reports.Error, reports.Error), "G-1 passed, G-2 passed, G-3 untested, G-4 passed, G-5 untested",
		},
		"one run of two failed": {
			conformances.Repeated([]*conformances.Report{
				decided(reports.Passed, reports.Passed), decided(reports.Failed, reports.Failed),
			}), "G-1 passed, G-2 passed, G-3 unstable, G-4 passed, G-5 untested",
		},
		"the second run of two passed": {
			conformances.Repeated([]*conformances.Report{
				decided(reports.Failed, reports.Failed), decided(reports.Passed, reports.Passed),
			}), "G-1 passed, G-2 passed, G-3 unstable, G-4 passed, G-5 untested",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := statuses(c.report); got != c.want {
				t.Fatalf("got  %s\nwant %s", got, c.want)
			}
			text, err := conformances.YAML(c.report)
			golden.Must(t, err)
			read, err := conformances.Read(text)
			golden.Must(t, err)
			if same, err := conformances.Compare(c.report, read); err != nil || !same.Same() {
				t.Errorf("%v: the report that was read back differs:\n%s", err, same)
			}
			passed := decided(reports.Passed, reports.Passed)
			if diff, err := conformances.Compare(passed, read); err != nil || len(diff.Changes) != 1 || diff.Changes[0].ID != "G-3" {
				t.Errorf("%v: want a difference in G-3, got:\n%s", err, diff)
			}
		})
	}
}

// A simulator with faults has them in every state.
func TestFaults(t *testing.T) {
	for _, c := range plan(t, Options{Faults: []string{"bad"}}).Scenarios() {
		for _, state := range c.Path() {
			if faults := state.Systems[0].Simulated.Faults; !slices.Equal(faults, []string{"bad"}) {
				t.Errorf("%s: %q in %s", c.Title(), faults, state)
			}
		}
	}
}

func TestWrongOptions(t *testing.T) {
	real := Substitute{System: "gadgets", Definition: process("true")}
	for name, c := range map[string]struct {
		options Options
		want    string
	}{
		"an unknown profile": {Options{Profile: "x"}, `no profile "x"; it has ["webhook" "crd"]`},
		"an unknown fault":   {Options{Faults: []string{"bad", "worse"}}, `has no fault "worse"`},
		"faults of a real one": {
			Options{Profile: "crd", Substitutes: []Substitute{real}, Faults: []string{"bad"}},
			"system gadgets is not simulated here, so it has no faults",
		},
		"an unknown system": {Options{Substitutes: []Substitute{{System: "x"}}}, `has a system "x"`},
		"a system without saying which kind": {
			Options{Substitutes: []Substitute{real}},
			"--profile webhook or --profile crd",
		},
		"a system twice": {
			Options{Profile: "crd", Substitutes: []Substitute{real, real}},
			"system gadgets is given twice",
		},
		"one that no scenario can be run with": {Options{
			Profile:     "crd",
			Substitutes: []Substitute{{System: "gadgets", Variant: "x"}},
		}, "no scenario of suite gadgets can run"},
		"one whose program does not exist": {Options{
			Profile:     "webhook",
			Substitutes: []Substitute{{System: "gadgets", Definition: process("/no/such")}},
		}, "/no/such"},
		"no simulator, so that nothing is left": {Options{Plan: harness.PlanOptions{}}, `unknown simulator "gadgets"; known: none`},
	} {
		t.Run(name, func(t *testing.T) {
			c.options.Suite, c.options.Provider = gadgets(t), paper{}
			if _, err := NewPlan(t.Context(), c.options); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
