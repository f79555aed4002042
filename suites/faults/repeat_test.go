package faults

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// repeated is a trial of one scenario, whose runs had these results; "" is a run that did not happen.
func repeated(results ...reports.Status) *trial {
	t := &trial{fault: fault("f", "A"), done: []group{{scenarios: []*scenarios.Scenario{scenario("one", "A")}}}}
	t.ran = []*reports.Scenario{ran("one", results[0], "A")}
	for k, status := range results[1:] {
		t.note(k+1, nil)
		if status != "" {
			t.note(k+1, []*reports.Scenario{ran("one", status, "A")})
		}
	}
	return t
}

// The first run counts like each other.
func TestFirstRunWithoutVerdict(t *testing.T) {
	row := repeated(reports.Error, reports.Failed, reports.Failed).row()
	if want := []string{"one, run 1: it is so"}; !reflect.DeepEqual(row.Unrepeated, want) {
		t.Errorf("got %q, want %q", row.Unrepeated, want)
	}
}

func TestVerdictsThatDiffer(t *testing.T) {
	const failed, passed, broken = reports.Failed, reports.Passed, reports.Error
	for name, c := range map[string]struct {
		trial                *trial
		unstable, unrepeated []string
	}{
		"equal": {repeated(failed, failed, failed), nil, nil},
		"different": {
			repeated(failed, failed, passed),
			[]string{"one: failed A=failed in runs 1 2 (in run 1: it is so); passed A=passed in runs 3"},
			nil,
		},
		"a run without a verdict": {repeated(failed, broken, failed), nil, []string{"one, run 2: it is so"}},
		"a run that is missing":   {repeated(failed, "", failed), nil, []string{"one, run 2: it did not run"}},
		"one run":                 {repeated(failed), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			row := c.trial.row()
			if !reflect.DeepEqual(row.Unstable, c.unstable) || !reflect.DeepEqual(row.Unrepeated, c.unrepeated) {
				t.Errorf("got %q and %q, want %q and %q", row.Unstable, row.Unrepeated, c.unstable, c.unrepeated)
			}
			m := Matrix{Suite: "s", Rows: []Row{row}, Repeat: 3, Partial: true}
			if err := m.Err(); (err != nil) != (c.unstable != nil) {
				t.Errorf("the error is %v", err)
			}
			if err := m.Unjudged(); (err != nil) != (c.unrepeated != nil) {
				t.Errorf("the error about runs without a verdict is %v", err)
			}
			if text := m.String(); strings.Contains(text, "UNSTABLE with fault f: one") != (c.unstable != nil) {
				t.Errorf("it prints\n%s", text)
			}
		})
	}
}

// Repetitions that never ran, since the run ended early, are named.
func TestRepetitionsThatNeverRan(t *testing.T) {
	interrupted := errors.New("interrupted")
	one := repeated(reports.Failed)
	r := runner{Options: Options{Repeat: 3, Progress: func(string, ...any) { panic(interrupted) }}}
	defer func() {
		if recover() != interrupted { //nolint:errorlint // the same one
			t.Error("the repetitions ran")
		}
		want := []string{"one, run 2: it did not run", "one, run 3: it did not run"}
		if row := one.row(); !reflect.DeepEqual(row.Unrepeated, want) {
			t.Errorf("got %q, want %q", row.Unrepeated, want)
		}
	}()
	_, _ = r.repeat(t.Context(), []*trial{one}, 1, nil)
}

// A repetition without a verdict runs again, and so does one whose scenario failed without the fault.
func TestRepetitionsThatAreRetried(t *testing.T) {
	judged, wide := repeated(reports.Failed, reports.Failed), repeated(reports.Failed, reports.Failed)
	wide.fault.ClusterWide = true
	trials := []*trial{judged, repeated(reports.Failed, reports.Error), wide}
	var round []chosen
	for i, t := range trials {
		round = append(round, chosen{i, t.done[0]})
	}
	trials = append(trials, repeated(reports.Error, reports.Failed))
	round = append(round, chosen{3, trials[3].done[0]})
	for name, c := range map[string]struct {
		run  int
		red  map[string]*reports.Scenario
		want []int
	}{
		"no verdict":               {1, nil, []int{1}},
		"failed without the fault": {1, map[string]*reports.Scenario{"one": {Status: reports.Failed}}, []int{0, 1, 3}},
		"the first run":            {0, nil, []int{3}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []int
			for _, c := range withoutVerdict(trials, round, c.run, c.red) {
				got = append(got, c.trial)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("trials %v are retried, want %v", got, c.want)
			}
		})
	}
}

// A repetition that failed in a step without requirements runs again, but only if another run ended differently.
func TestRepetitionsThatBlameNothingAreRetried(t *testing.T) {
	early := func() *reports.Scenario {
		s := ran("one", reports.Failed, "A")
		s.Steps = []*reports.Step{
			{Name: "prepare", Status: reports.Failed},
			{Name: "check", Covers: []string{"A"}, Status: reports.NotRun},
		}
		return s
	}
	same, other := repeated(reports.Failed, ""), repeated(reports.Failed, "")
	same.ran = []*reports.Scenario{early()}
	same.note(1, []*reports.Scenario{early()})
	other.note(1, []*reports.Scenario{early()})
	round := []chosen{{0, same.done[0]}, {1, other.done[0]}}
	for run, want := range [][]int{nil, {1}} {
		var got []int
		for _, c := range withoutVerdict([]*trial{same, other}, round, run, nil) {
			got = append(got, c.trial)
		}
		if !slices.Equal(got, want) {
			t.Errorf("run %d: trials %v are retried, want %v", run+1, got, want)
		}
	}
	if row := other.row(); len(row.Unstable) != 1 {
		t.Errorf("a run that still fails before its requirement counts as equal: %q", row.Unstable)
	}
}

// A retry of the first run replaces its result, so that nothing is left without a verdict.
func TestFirstRunIsRetried(t *testing.T) {
	tried := repeated(reports.Error, reports.Failed)
	tried.note(0, []*reports.Scenario{ran("one", reports.Failed, "A")})
	row := tried.row()
	if len(row.Unrepeated) > 0 || len(row.Unstable) > 0 || len(row.Unjudged) > 0 {
		t.Errorf("got %q, %q and %q, want nothing", row.Unrepeated, row.Unstable, row.Unjudged)
	}
}

// A scenario that was tried in two rounds is repeated once.
func TestScenariosAreRepeatedOnce(t *testing.T) {
	one, two := scenario("one"), scenario("two")
	var tried trial
	tried.begun(group{scenarios: []*scenarios.Scenario{one}})
	tried.begun(group{scenarios: []*scenarios.Scenario{one, two}})
	tried.begun(group{scenarios: []*scenarios.Scenario{two}})
	var got []*scenarios.Scenario
	for _, g := range tried.done {
		got = append(got, g.scenarios...)
	}
	if !slices.Equal(got, []*scenarios.Scenario{one, two}) {
		t.Errorf("%d scenarios are repeated, want 2", len(got))
	}
}
