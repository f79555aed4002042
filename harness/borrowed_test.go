package harness_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/terminal"
)

// borrower is a provider of a cluster that somebody else owns.
type borrower struct{ provider }

func (*borrower) Borrowed() string { return "cluster prod (context admin)" }

func (*borrower) Reach(context.Context) error { return nil }

// No output says that the run creates or deletes somebody else's cluster.
func TestBorrowedClusterIsUsedAndLeft(t *testing.T) {
	for _, keep := range []bool{false, true} {
		p := &borrower{provider{t: t}}
		plan := planned(t, p, scenario("one", makeMap("a")+transition("1.35")), harness.PlanOptions{})
		var said strings.Builder
		shown := terminal.New(terminal.Config{Out: &said, Clock: clock.RealClock{}})
		recorder := reports.NewRecorder(plan.Result(), clock.RealClock{}, shown)
		if err := harness.Execute(t.Context(), plan, harness.Options{
			Recorder: recorder, Keep: keep, Progress: shown.Progress, Say: shown.Say,
		}); err != nil {
			t.Fatal(err)
		}
		junit, err := reports.JUnit(recorder.Run())
		if err != nil {
			t.Fatal(err)
		}
		described, _, _ := strings.Cut(plan.String(), "\n  scenario")
		for what, text := range map[string]string{"plan": described, "terminal": said.String(), "JUnit": string(junit)} {
			contains(t, text, "using cluster prod (context admin)")
			for line := range strings.Lines(text) {
				if !strings.Contains(line, "ConfigMap") && (strings.Contains(line, "create ") || strings.Contains(line, "delete")) {
					t.Errorf("%s, keep %t: %s", what, keep, line)
				}
			}
		}
		if keep {
			contains(t, said.String(), "cluster prod (context admin) keeps the objects of the scenarios")
		} else {
			contains(t, said.String(), "leaving cluster prod (context admin)")
		}
	}
}

// lender lends one of its clusters.
type lender struct {
	borrower
	returned []clusters.Cluster
}

func (l *lender) Return(_ context.Context, c clusters.Cluster) error {
	l.returned = append(l.returned, c)
	return nil
}

// A lent cluster is returned, and not deleted.
func TestLentClusterIsReturned(t *testing.T) {
	l := &lender{borrower: borrower{provider{t: t}}}
	run := ran(t, l, scenario("one", makeMap("a")), harness.Options{})
	if find(t, run, "one").Status != reports.Passed || len(l.returned) != 1 || l.returned[0].(*cluster).deleted {
		t.Errorf("returned: %+v", l.returned)
	}
}

// A transition reports its direction, change and names. Its time is not part of a step's own time.
func TestTransitionsInTheResult(t *testing.T) {
	up := "  - {name: upgrade, transition: {version: \"1.35\", featureGates: {G: true}}}\n"
	down := "  - transition: {version: \"1.34\"}\n"
	text := scenario("one", makeMap("a")+up+down) + scenario("two", strings.Replace(up, "upgrade", "gate on", 1)+down)
	run := ran(t, &provider{converge: func(context.Context, clusters.State) error { return nil }},
		text, harness.Options{})
	setup := run.Tracks[0].Setup
	for i, want := range []reports.Step{
		{Change: "1.34.4"},
		{Direction: "up", Change: "1.34.4 → 1.35.4, G on", Called: []string{"upgrade", "gate on"}},
		{Direction: "down", Change: "1.35.4 → 1.34.4"},
	} {
		got := setup[i]
		if got.Direction != want.Direction || got.Change != want.Change ||
			strings.Join(got.Called, ", ") != strings.Join(want.Called, ", ") {
			t.Errorf("setup step %d is %q %q %q, want %q %q %q", i, got.Direction, got.Change, got.Called, want.Direction,
				want.Change, want.Called)
		}
	}
	one, two := find(t, run, "one"), find(t, run, "two")
	for i := range 2 {
		a, b := one.Steps[1+i], two.Steps[i]
		if a.Crossing <= 0 || a.Crossing != b.Crossing {
			t.Errorf("transition %d took %d for one scenario and %d for the other, want the same", i+1, a.Crossing, b.Crossing)
		}
		if all := a.Finished.Sub(a.Started); a.Duration() >= all {
			t.Errorf("transition %d: the step's own time is %s of %s", i+1, a.Duration(), all)
		}
	}
}
