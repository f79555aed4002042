package faults

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

func scenario(name string, covers ...string) *scenarios.Scenario {
	return &scenarios.Scenario{Metadata: scenarios.Metadata{Name: name}, Spec: scenarios.Spec{Covers: covers}}
}

func fault(name string, breaks ...string) simulators.Fault {
	return simulators.Fault{Name: name, Breaks: breaks}
}

func ran(name string, status reports.Status, covers ...string) *reports.Scenario {
	return &reports.Scenario{Name: mark(0, 1) + separator + name, Status: status, Covers: covers, Message: "it is so"}
}

func TestRow(t *testing.T) {
	row := newRow(fault("f", "A", "B", "C"), []*reports.Scenario{
		ran("one", reports.Failed, "B", "X"), ran("two", reports.Passed, "A"), ran("three", reports.Known, "A"),
		ran("four", reports.Error, "C"),
		ran("five", reports.NotRun, "C"),
	})
	other := newRow(fault("f", "A"), []*reports.Scenario{ran("one", reports.Failed, "X")})
	if len(row.Reasons) != 0 || !slices.Equal(other.Reasons, []string{"one: it is so"}) {
		t.Errorf("reasons: got %q and %q", row.Reasons, other.Reasons)
	}
	want := Row{
		Fault: fault("f", "A", "B", "C"), Scenarios: 5, Failed: []string{"one"}, Caught: []string{"B"}, Unseen: []string{
			"A",
			"C",
		},
		Blamed: []string{"X"}, Unjudged: []string{"four: it is so", "five: it is so"},
	}
	if got := fmt.Sprintf("%+v", row); got != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %s\nwant %+v", got, want)
	}
}

func matrix() *Matrix {
	return &Matrix{
		Suite: "gadgets", Took: 83 * time.Second,
		Core: coreOf([]suites.Requirement{
			{ID: "A", Level: suites.Core},
			{ID: "B", Level: suites.Core},
			{ID: "C", Level: suites.Extended},
			{ID: "D", Level: suites.Core, NoFault: "It is the same."},
		}),
		Rows: []Row{
			{
				Fault: fault("one", "A", "C"), Scenarios: 3, Failed: []string{"x"}, Caught: []string{"A"},
				Unseen: []string{"C"}, Blamed: []string{"D"},
			},
			{
				Fault: fault("two", "A", "B"), Scenarios: 2, Failed: []string{"x", "y"}, Caught: []string{"A", "B"},
				Unjudged: []string{"z: it broke"},
			},
		},
	}
}

func TestMatrix(t *testing.T) {
	m := matrix()
	golden.Check(t, "testdata/matrix.txt", m.String())
}

// If only some faults were tried, only the requirements that catch one are shown.
func TestPartialMatrix(t *testing.T) {
	m := matrix()
	m.Rows, m.Partial = m.Rows[:1], true
	text := m.String()
	if !strings.Contains(text, "1 of 3 core requirements catch one of these") || !strings.Contains(text, "\nA ") ||
		strings.Contains(text, "\nB ") || strings.Contains(text, "\nD ") {
		t.Errorf("got:\n%s", text)
	}
}

func TestMatrixErr(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Matrix)
		want   string
	}{
		"all is well": {func(*Matrix) {}, ""},
		"a fault that nothing catches": {
			func(m *Matrix) { m.Rows[0].Failed, m.Rows[0].Caught = nil, nil },
			"fault one is not caught by any of 3 scenarios; it breaks A, C",
		},
		"a fault that others catch": {
			func(m *Matrix) { m.Rows[0].Caught, m.Rows[0].Reasons = nil, []string{"x: step 3 failed"} },
			"fault one makes x fail, but no step that covers what it breaks (A, C): x: step 3 failed",
		},
		"a fault that is not judged": {
			func(m *Matrix) { m.Rows[1].Caught, m.Rows[1].Unseen = nil, []string{"A", "B"} },
			"",
		},
		"a requirement that is idle": {
			func(m *Matrix) { m.Rows[1].Caught = []string{"A"} },
			"core requirement B catches no fault",
		},
		"one that is not tried": {func(m *Matrix) { m.Rows, m.Partial = m.Rows[:1], true }, ""},
		"not green before": {
			func(m *Matrix) { m.Rows, m.Before = nil, []string{"x failed"} },
			"without faults, before: x failed",
		},
		"not green for many reasons": {
			func(m *Matrix) { m.Rows, m.Before = nil, slices.Repeat([]string{"x failed"}, 9) },
			"without faults, before: and 4 more",
		},
		"not green after": {
			func(m *Matrix) { m.After = []string{"x failed"} },
			"without faults, after: x failed",
		},
		"a reason that does not hold up": {
			func(m *Matrix) { m.Core[2].NoFault = "" },
			"core requirement D catches no fault",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := matrix()
			c.change(m)
			err := m.Err()
			if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A fault without a verdict is no failure of the suite, and neither is the requirement that only it breaks.
func TestMatrixUnjudged(t *testing.T) {
	m := matrix()
	if err := m.Unjudged(); err != nil {
		t.Errorf("a caught fault: got %v", err)
	}
	m.Rows[1].Caught, m.Rows[1].Unseen = nil, []string{"A", "B"}
	if err := m.Unjudged(); m.Err() != nil || err == nil || err.Error() != "fault two could not be judged: z: it broke" {
		t.Errorf("got %v; failures: %v", err, m.Err())
	}
}

// A fault is caught by one requirement that it breaks. The scenario of another one, which catches no other fault, could
// not be judged.
func TestMatrixUnjudgedRequirement(t *testing.T) {
	m := matrix()
	m.Rows[1].Caught, m.Rows[1].Unseen = []string{"A"}, []string{"B"}
	const want = "it is unknown whether core requirement B catches a fault"
	if err := m.Unjudged(); m.Err() != nil || err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v; failures: %v", err, m.Err())
	}
	m.Partial = true
	if err := m.Unjudged(); err != nil {
		t.Errorf("some faults were not tried: %v", err)
	}
}

func faultsOf(trials []*trial) []simulators.Fault {
	var all []simulators.Fault
	for _, t := range trials {
		all = append(all, t.fault)
	}
	return all
}

// play runs all rounds of the trials. A scenario fails if it has the name of the fault, or "any".
func play(trials []*trial, requirements []suites.Requirement) []string {
	var rounds []string
	for {
		round := next(trials, requirements, rarity(faultsOf(trials)))
		if len(round) == 0 {
			return rounds
		}
		var texts []string
		for _, c := range round {
			t := trials[c.trial]
			var names []string
			for _, s := range c.group.scenarios {
				status := reports.Passed
				if s.Metadata.Name == t.fault.Name || s.Metadata.Name == "any" {
					status = reports.Failed
				}
				t.ran = append(t.ran, ran(s.Metadata.Name, status, s.Spec.Covers...))
				names = append(names, s.Metadata.Name)
			}
			texts = append(texts, t.fault.Name+": "+strings.Join(names, " "))
		}
		rounds = append(rounds, strings.Join(texts, ", "))
	}
}

func TestRounds(t *testing.T) {
	core := func(ids ...string) []suites.Requirement {
		var all []suites.Requirement
		for _, id := range ids {
			all = append(all, suites.Requirement{ID: id, Level: suites.Core})
		}
		return all
	}
	g := func(states int, list ...*scenarios.Scenario) group { return group{scenarios: list, states: states} }
	for name, c := range map[string]struct {
		trials []*trial
		want   []string
	}{
		"the group that covers most comes first, and one that catches is enough": {
			[]*trial{{fault: fault("f", "A", "B"), left: []group{
				g(1, scenario("f", "A")),
				g(3, scenario("x", "A"), scenario("any", "B")),
			}}},
			[]string{"f: x any", "f: f"}, // the second is for A, which the first did not catch
		},
		"of two that cover as much the shorter path": {
			[]*trial{{fault: fault("f", "A"), left: []group{g(3, scenario("x", "A")), g(1, scenario("f", "A"))}}},
			[]string{"f: f"},
		},
		"what is not caught is tried with all there is": {
			[]*trial{
				{fault: fault("f", "A"), left: []group{
					g(1, scenario("x", "A")), g(1, scenario("y", "A")),
					g(1, scenario("z", "Z")),
				}},
				{fault: fault("any", "A"), left: []group{g(1, scenario("any", "A")), g(2, scenario("any", "A"))}},
			},
			[]string{"f: x, any: any", "f: y"},
		},
		"a few are enough, of the requirements that the fewest faults break": {
			[]*trial{
				{fault: fault("f", "A", "B"), left: []group{g(1, scenario("x", "A"), scenario("y", "A"), scenario("f", "B"))}},
				{fault: fault("h", "A"), left: []group{g(1, scenario("h", "A"))}},
			},
			[]string{"f: f x, h: h"},
		},
		"other groups come before the rest of one, and the rest of one at once": {
			[]*trial{{fault: fault("f", "A", "B"), left: []group{
				g(1, scenario("x1", "A"), scenario("x2", "A"), scenario("x3", "A"), scenario("x4", "B")), g(2, scenario("y", "A")),
				g(3, scenario("f", "A")),
			}}},
			[]string{"f: x1 x4", "f: y", "f: f"},
		},
		"what nothing catches is tried with everything": {
			[]*trial{{fault: fault("f", "A"), left: []group{
				g(1, scenario("x1", "A"), scenario("x2", "A"), scenario("x3", "A")),
				g(2, scenario("y", "A")),
			}}},
			[]string{"f: x1", "f: y", "f: x2 x3"},
		},
		"a requirement that caught nothing is tried with the fault that breaks little else": {
			[]*trial{
				{fault: fault("f", "A", "B", "C"), left: []group{g(1, scenario("f", "A")), g(1, scenario("f", "B"))}},
				{fault: fault("h", "A", "B"), left: []group{g(1, scenario("h", "A")), g(1, scenario("h", "B"))}},
			},
			[]string{"f: f, h: h", "h: h"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := play(c.trials, core("A", "B")); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// Of the scenarios that cover a requirement, the one with the shortest known time is tried.
func TestPick(t *testing.T) {
	long, short := scenario("long", "A", "B"), scenario("short", "A")
	took := timings{"long": {time.Second, time.Minute}, "short": {2 * time.Second, 3 * time.Second}}
	for _, c := range []struct {
		ids  []string
		took timings
		want *scenarios.Scenario
	}{{[]string{"A"}, took, short}, {[]string{"B", "A"}, took, long}, {[]string{"A"}, nil, long}} {
		if got := (group{scenarios: []*scenarios.Scenario{long, short}}).pick(c.ids, c.took); len(got) != 1 ||
			got[0] != c.want {
			t.Errorf("%v: %v", c.ids, got)
		}
	}
}

func TestRelevant(t *testing.T) {
	suite := suites.Suite{Scenarios: []*scenarios.Scenario{
		scenario("a", "A", "B"), scenario("b", "B"),
		scenario("c", "C"),
	}}
	var names []string
	for _, s := range relevant(suite, fault("f", "A", "C")) {
		names = append(names, s.Metadata.Name)
	}
	if !slices.Equal(names, []string{"a", "c"}) {
		t.Errorf("got %q", names)
	}
}

// A scenario of another reading fails with a simulator that does what is stated. It runs with no fault.
func TestReadingsCatchNothing(t *testing.T) {
	reading := scenario("b", "A")
	reading.Metadata.Labels = map[string]string{suites.ReadingLabel: "other"}
	suite := suites.Suite{Scenarios: []*scenarios.Scenario{scenario("a", "A"), reading}}
	for _, all := range []bool{false, true} {
		r := runner{Options: Options{Suite: suite, All: all}}
		if got := r.scenariosFor(fault("f", "A")); len(got) != 1 || got[0].Metadata.Name != "a" {
			t.Errorf("all %t: got %d scenarios", all, len(got))
		}
	}
}

// Faults that no selected scenario can catch are an error, also for a shard: no shard would try anything.
func TestNothingToTry(t *testing.T) {
	suite := suites.Suite{
		Scenarios: []*scenarios.Scenario{scenario("a", "A")}, Faults: []simulators.Fault{fault("other", "B")},
	}
	for _, shard := range []planning.Shard{{}, {Number: 1, Of: 2}, {Number: 2, Of: 2}} {
		m, err := Run(t.Context(), Options{Suite: suite, Focused: true, Shard: shard})
		if m != nil || err == nil || !strings.Contains(err.Error(), "no selected scenario covers a requirement") {
			t.Errorf("shard %v: %v, %v", shard, m, err)
		}
	}
}

// Selected scenarios need not catch every fault, but a whole suite must.
func TestApplicable(t *testing.T) {
	suite := suites.Suite{Scenarios: []*scenarios.Scenario{scenario("a", "A")}}
	all := []simulators.Fault{fault("one", "A"), fault("other", "B")}
	for name, test := range map[string]struct {
		focused bool
		faults  []simulators.Fault
		want    int
		says    string
	}{
		"a whole suite":                 {false, all, 0, "no scenario covers a requirement that fault other breaks"},
		"selected scenarios":            {true, all, 1, ""},
		"selected scenarios, for none":  {true, all[1:], 0, ""},
		"a whole suite that covers all": {false, all[:1], 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var left []string
			r := runner{Options: Options{
				Suite: suite, Focused: test.focused,
				Progress: func(format string, values ...any) { left = append(left, fmt.Sprintf(format, values...)) },
			}}
			got, err := r.applicable(test.faults)
			if len(got) != test.want || (err == nil) != (test.says == "") {
				t.Fatalf("got %v, %v", got, err)
			}
			if err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
			if said := strings.Contains(strings.Join(left, "\n"), "fault other is not tried"); said != test.focused {
				t.Errorf("it says %q", left)
			}
		})
	}
}

const waiting = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: s}
spec:
  cases: [{name: row}]
  cluster: {version: "1.36"}
  timeout: 20s
  steps:
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
  - eventually: {apiVersion: v1, kind: ConfigMap, name: a, within: 1m}
  - eventually: {apiVersion: v1, kind: ConfigMap, name: a, within: 2s}
  - always: {apiVersion: v1, kind: ConfigMap, name: a, for: 1m}
  - transition: {featureGates: {X: true}}
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
`

func TestBounded(t *testing.T) {
	set, err := scenarios.LoadBytes("s.yaml", []byte(waiting))
	golden.Must(t, err)
	second := time.Second
	run := &reports.Run{Tracks: []*reports.Track{{Scenarios: []*reports.Scenario{{Name: "before--s [row]"}}}}}
	for _, took := range []time.Duration{second, second, second, second, second, 5 * second} {
		began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		s := run.Tracks[0].Scenarios[0]
		s.Steps = append(s.Steps, &reports.Step{Started: began, Finished: began.Add(took)})
	}
	list := marked(bounded(set.Scenarios, timingsOf(run), 1, noStep), mark(3, 1))
	steps := list[0].Spec.Steps
	got := fmt.Sprint(steps[0].Timeout, steps[1].Timeout, steps[1].Eventually.Within, steps[2].Eventually.Within,
		steps[3].Timeout, steps[3].Always.For,
		steps[4].Timeout, steps[5].Timeout)
	if got != "10s 10s 10s 2s 0s 1m0s 0s 0s" {
		t.Errorf("got %s", got)
	}
	// Rounds at once take longer; but no step takes longer than the scenario says, which is 20 seconds.
	for rounds, want := range map[int]time.Duration{2: 14 * time.Second, 10: 0} {
		list := bounded(set.Scenarios, timingsOf(run), rounds, noStep)
		if got := time.Duration(list[0].Spec.Steps[0].Timeout); got != want {
			t.Errorf("%d rounds at once: %s, want %s", rounds, got, want)
		}
	}
	if before := set.Scenarios[0].Spec.Steps[1]; before.Timeout != 0 ||
		time.Duration(before.Eventually.Within) != time.Minute {
		t.Error("the scenario itself was changed")
	}
	if title := list[0].Title(); title != "f3r1--s [row]" || original(title) != set.Scenarios[0].Title() {
		t.Errorf("marked %q, and then %q", title, original(title))
	}
}

// With a fault that slows the steps before the one that catches it, a shorter timeout of these would hide the fault.
func TestBoundedKeepsWhatLeadsToACatch(t *testing.T) {
	set, err := scenarios.LoadBytes("s.yaml", []byte(waiting))
	golden.Must(t, err)
	s := set.Scenarios[0]
	s.Spec.Steps[1].Covers, s.Spec.Steps[2].Covers = []string{"B"}, []string{"A", "C"}
	took := timings{s.Title(): slices.Repeat([]time.Duration{time.Second}, len(s.Spec.Steps))}
	for breaks, want := range map[string]string{"A": "0s 45s 2s 10s", "B": "0s 10s 2s 10s", "D": "10s 10s 2s 10s"} {
		steps := bounded(set.Scenarios, took, 1, leadingTo([]string{breaks}))[0].Spec.Steps
		got := fmt.Sprint(steps[0].Timeout, steps[1].Eventually.Within, steps[2].Eventually.Within, steps[5].Timeout)
		if got != want {
			t.Errorf("with a fault that breaks %s, the timeouts are %s, want %s", breaks, got, want)
		}
	}
}

func TestProblemsWithoutFaults(t *testing.T) {
	run := &reports.Run{Tracks: []*reports.Track{{
		Name: "track-1",
		Setup: []*reports.Step{{Verb: "create", Name: "1.36", Status: reports.Passed}, {
			Verb: "delete", Name: "cluster",
			Status: reports.Error, Message: "it stays",
		}},
		Scenarios: []*reports.Scenario{
			{Name: "before--good", Status: reports.Passed},
			{Name: "before--known", Status: reports.Known},
			{Name: "before--bad", Status: reports.Failed},
			{Name: "before--late", Status: reports.NotRun},
		},
	}}}
	found := problemsOf(run.Tracks)
	if len(found.failed) != 1 || !strings.Contains(found.failed[0], "bad is failed") {
		t.Errorf("failed: %q", found.failed)
	}
	broken := strings.Join(found.broken, "\n")
	if len(found.broken) != 2 || !strings.Contains(broken, "delete of track-1 (cluster): it stays") ||
		!strings.Contains(broken, "late is notRun") {
		t.Errorf("broken: %q", found.broken)
	}
}

// What could not be judged without faults is no failure of the suite.
func TestNotJudgedWithoutFaults(t *testing.T) {
	m := &Matrix{Suite: "s", Broken: []string{"create of track-1 (1.36): no space"}, Core: []Core{{ID: "R1"}}}
	if err := m.Err(); err != nil {
		t.Errorf("it is a failure: %v", err)
	}
	if err := m.Unjudged(); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("it is not named: %v", err)
	}
	if got, want := m.String(), "could not be judged without faults"; !strings.Contains(got, want) {
		t.Errorf("no %q in %q", want, got)
	}
	m.Rows = []Row{{Fault: simulators.Fault{Name: "a"}, Caught: []string{"R1"}}}
	if got, want := m.String(), "passed before, NOT JUDGED during or after"; !strings.Contains(got, want) {
		t.Errorf("no %q in %q", want, got)
	}
}

// A fault that the user named and that no selected scenario can catch is not judged. Another one is only named.
func TestFaultsThatNoSelectedScenarioCatches(t *testing.T) {
	faults := []simulators.Fault{{Name: "named", Breaks: []string{"R9"}}, {Name: "other", Breaks: []string{"R9"}}}
	for _, shards := range []int{0, 2} {
		r := runner{Options: Options{
			Only: []string{"named"}, Focused: true, Shard: planning.Shard{Number: 1, Of: shards},
			Progress: func(string, ...any) {},
		}}
		if rows := r.uncovered(faults); len(rows) != 1 || rows[0].Fault.Name != "named" || !rows[0].unjudged() {
			t.Errorf("%d shards: %+v", shards, rows)
		}
		if m := (&Matrix{}); shards > 0 && (r.run(t.Context(), m, faults) != nil || len(m.Rows) != 1) {
			t.Errorf("a shard without other faults: %+v", m)
		}
	}
	r := &Result{Trials: Names{Faults: []string{"a", "other"}}, Faults: &Matrix{
		Rows: []Row{{Fault: simulators.Fault{Name: "a"}, Caught: []string{"R1"}}},
	}}
	r.Finished = time.Now()
	if want := "no selected scenario covers what they break: fault other"; !strings.Contains(r.String(), want) {
		t.Errorf("no %q in %s", want, r)
	}
}

// A given run replaces the run before the faults, if it contains all used scenarios.
func TestBefore(t *testing.T) {
	run := &reports.Run{Tracks: []*reports.Track{{Scenarios: []*reports.Scenario{{
		Name:  "a",
		Steps: []*reports.Step{{}},
	}}}}}
	noClusters := errors.New("no clusters")
	r := runner{Options: Options{Before: run, Progress: func(string, ...any) { panic(noClusters) }}}
	if got, err := r.before(t.Context(), []*scenarios.Scenario{scenario("a")}); got != run || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	defer func() {
		if recover() != noClusters { //nolint:errorlint // the same one
			t.Error("a run that lacks a scenario was taken")
		}
	}()
	_, _ = r.before(t.Context(), []*scenarios.Scenario{scenario("a"), scenario("b")})
}

func TestChoose(t *testing.T) {
	suite := suites.Suite{Name: "gadgets", Faults: []simulators.Fault{fault("a", "A"), fault("b", "B")}}
	if got, err := choose(suite, []string{"b"}); err != nil || len(got) != 1 || got[0].Name != "b" {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := choose(suite, nil); err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := choose(suite, []string{"c"}); err == nil || !strings.Contains(err.Error(), `has no fault "c"`) {
		t.Errorf("got %v", err)
	}
	if _, err := choose(suites.Suite{Name: "kubernetes"}, nil); err == nil || !strings.Contains(err.Error(),
		"has no built-in simulator") {
		t.Errorf("got %v", err)
	}
}
