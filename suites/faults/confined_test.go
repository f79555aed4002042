package faults

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// Faults that can be limited share a simulator, in which the scenarios also run without faults; a cluster-wide fault
// has its own.
func TestScenariosOfRound(t *testing.T) {
	simulated := func(name string) *scenarios.Scenario {
		s := scenario(name)
		s.Spec.Cluster.Systems = []clusters.System{{Name: "gadgets", Simulated: &clusters.Simulated{}}}
		return s
	}
	a, b := simulated("a"), simulated("b")
	trials := []*trial{
		{fault: fault("loud")},
		{fault: simulators.Fault{Name: "unregistered", ClusterWide: true}},
		{fault: fault("late")},
	}
	round := []chosen{
		{0, group{scenarios: []*scenarios.Scenario{a}}},
		{1, group{scenarios: []*scenarios.Scenario{a}}},
		{2, group{scenarios: []*scenarios.Scenario{a, b}}},
	}
	r := runner{Options: Options{Suite: suites.Suite{System: "gadgets"}}}
	var got []string
	for _, s := range r.scenariosOfRounds(trials, [][]chosen{round}, 2, nil) {
		got = append(got, s.Metadata.Name+": "+strings.Join(s.Spec.Cluster.Systems[0].Simulated.Faults, " "))
	}
	const beside = "loud@f0r*-* late@f2r*-*"
	want := []string{
		"f1r2--a: unregistered", "f0r2--a: " + beside, "f2r2--a: " + beside, "f2r2--b: " + beside,
		"c2--a: " + beside, "c2--b: " + beside,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A cluster-wide fault has nothing beside it that shows that a shorter timeout is too short.
func TestClusterWideFaultsHaveAmpleTimeouts(t *testing.T) {
	set, err := scenarios.LoadBytes("s.yaml", []byte(waiting))
	golden.Must(t, err)
	took := timings{set.Scenarios[0].Title(): {time.Millisecond, time.Millisecond, time.Millisecond}}
	for wide, want := range map[bool]time.Duration{true: ample, false: slack + patience*time.Millisecond} {
		trials := []*trial{{fault: simulators.Fault{Name: "f", ClusterWide: wide}}}
		round := []chosen{{0, group{scenarios: set.Scenarios}}}
		list := runner{}.scenariosOfRounds(trials, [][]chosen{round}, 1, took)
		if got := list[0].Spec.Steps[1].Eventually.Within.Or(0); got != want {
			t.Errorf("cluster-wide %t: a step waits for %s, want %s", wide, got, want)
		}
	}
}

// A scenario that also fails without the fault is no evidence.
func TestControlled(t *testing.T) {
	of := func(mark string, status reports.Status) *reports.Scenario {
		return &reports.Scenario{Name: mark + separator + "a", Status: status}
	}
	for name, c := range map[string]struct {
		ran     reports.Status
		control []*reports.Scenario
		want    reports.Status
		message string
	}{
		"it fails by the fault":         {reports.Failed, []*reports.Scenario{of("c1", reports.Passed)}, reports.Failed, ""},
		"it fails and is known without": {reports.Failed, []*reports.Scenario{of("c1", reports.Known)}, reports.Failed, ""},
		"it passes":                     {reports.Passed, []*reports.Scenario{of("c1", reports.Failed)}, reports.Passed, ""},
		"it fails without the fault": {
			reports.Failed,
			[]*reports.Scenario{of("c1", reports.Failed)},
			reports.Error,
			"without the fault it is failed, too",
		},
		"it did not run without": {reports.Failed, nil, reports.Error, "it did not run without the fault"},
		"it was not judged without": {
			reports.Failed,
			[]*reports.Scenario{of("c1", reports.Error)},
			reports.Error,
			"without the fault it is error, too",
		},
		"another one ran without it": {
			reports.Failed,
			[]*reports.Scenario{{Name: "c1--b", Status: reports.Passed}},
			reports.Error, "it did not run without the fault",
		},
		"it was skipped without a fault": {
			reports.Failed,
			[]*reports.Scenario{of("c1", reports.Skipped)},
			reports.Error,
			"without the fault it is skipped, too",
		},
	} {
		got := controlled([]*reports.Scenario{of("f0", c.ran)}, c.control)[0]
		if got.Status != c.want || !strings.Contains(got.Message, c.message) {
			t.Errorf("%s: %s", name, fmt.Sprint(got.Status, " ", got.Message))
		}
	}
}

// An unjudged scenario runs a second time, but not a third time.
func TestAgain(t *testing.T) {
	a, b := scenario("a", "A"), scenario("b", "A")
	tried := &trial{fault: fault("late", "A")}
	round := []chosen{
		{0, group{scenarios: []*scenarios.Scenario{b}}},
		{1, group{scenarios: []*scenarios.Scenario{a, b}, states: 2}},
	}
	ran := []*reports.Scenario{{Name: "f1--a", Status: reports.NotRun}, {Name: "f1--b", Status: reports.Passed}}
	if judged := tried.again(ran, round, 1, t.Logf); len(judged) != 1 || judged[0] != ran[1] || len(tried.left) != 1 ||
		tried.left[0].scenarios[0] != a || tried.left[0].states != 2 {
		t.Errorf("judged %v, left %+v", judged, tried.left)
	}
	tried.left = nil
	if judged := tried.again(ran, round, 1, t.Logf); len(judged) != 2 || len(tried.left) != 0 {
		t.Errorf("a third time: judged %v, left %+v", judged, tried.left)
	}
}

// An unjudged scenario keeps its full timeouts the second time, with the fault and without.
func TestExceptRepeated(t *testing.T) {
	took := timings{"a": {time.Second}, "b": {time.Second}}
	trials := []*trial{
		{fault: fault("late"), repeated: map[string]bool{"a": true}},
		{fault: fault("loud"), repeated: map[string]bool{"b": true}},
	}
	if got := took.exceptRepeated(trials, []chosen{{0, group{}}}); len(got) != 1 || got["b"] == nil || len(took) != 2 {
		t.Errorf("%v of %v", got, took)
	}
}

// A failed cleanup says nothing about a scenario's own steps.
func TestWithoutCleanup(t *testing.T) {
	stays := &reports.Step{Verb: "cleanup", Status: reports.Error, Message: "it stays"}
	of := func(statuses ...reports.Status) []*reports.Step {
		var steps []*reports.Step
		for _, status := range statuses {
			steps = append(steps, &reports.Step{Verb: "create", Status: status, Message: string(status)})
		}
		return steps
	}
	for name, c := range map[string]struct {
		steps []*reports.Step
		want  reports.Status
	}{
		"it passed":            {append(of(reports.Passed, reports.Passed), stays), reports.Passed},
		"it failed":            {append(of(reports.Passed, reports.Failed, reports.NotRun), stays), reports.Failed},
		"it failed as known":   {append(of(reports.Known, reports.NotRun), stays), reports.Known},
		"it was not judged":    {append(of(reports.Passed, reports.Error, reports.NotRun), stays), reports.Error},
		"it did not begin":     {append(of(reports.NotRun), stays), reports.NotRun},
		"nothing was to go":    {of(reports.Passed, reports.Error), reports.Error},
		"nothing is known yet": {nil, reports.Error},
	} {
		if got := withoutCleanup(&reports.Scenario{Name: "a", Status: reports.Error, Steps: c.steps}); got.Status != c.want {
			t.Errorf("%s: %s", name, got.Status)
		}
	}
	failed := &reports.Scenario{Status: reports.Failed, Covers: []string{"A", "B"}, Steps: append(of(reports.Failed), stays)}
	failed.Steps[0].Covers = []string{"B"}
	if status, _ := withoutCleanup(failed).About("A"); status == reports.Error {
		t.Errorf("a failed cleanup decides about a requirement")
	}
	unexpected := &reports.Scenario{Status: reports.Error, KnownCovers: []string{"A"}, Steps: append(of(reports.Passed),
		stays)}
	if got := withoutCleanup(unexpected); got.Status != reports.Error {
		t.Errorf("an issue that should have shown, and did not: %s", got.Status)
	}
}
