package reports_test

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/reports"
)

func TestForTest(t *testing.T) {
	step := func(status reports.Status, message string) []*reports.Step {
		return []*reports.Step{{Name: "reject it", Verb: "create", Status: status, Message: message}}
	}
	run := &reports.Run{Tracks: []*reports.Track{
		{Scenarios: []*reports.Scenario{
			{Name: "good", Status: reports.Passed},
			{Name: "bad", Status: reports.Failed, Steps: step(reports.Failed, "it was accepted")},
			{Name: "old news", Status: reports.Known, KnownIssue: "see there", Steps: step(reports.Known, "it was accepted")},
		}},
		{
			Setup:     []*reports.Step{{Verb: "create", Name: "1.34.4", Status: reports.Error, Message: "no room"}},
			Scenarios: []*reports.Scenario{{Name: "never", Status: reports.NotRun}},
		},
		{Scenarios: []*reports.Scenario{
			{Name: "broken", Status: reports.Error, Message: "the cluster broke"},
			{Name: "of no status"},
		}},
	}}
	for _, c := range []struct {
		scenario, known string
		want            []string
	}{
		{scenario: "good"},
		{scenario: "bad", want: []string{"bad: failed", "reject it", "it was accepted"}},
		{scenario: "old news", known: "see there"},
		{scenario: "never", want: []string{"never: notRun", "create of the cluster (1.34.4): no room"}},
		{scenario: "broken", want: []string{"broken: error", "the cluster broke"}},
		{scenario: "of no status", want: []string{"of no status: "}},
		{scenario: "unheard of", want: []string{"unheard of is not in the run's result"}},
	} {
		known, err := reports.ForTest(run, c.scenario)
		if known != c.known || (err != nil) != (c.want != nil) {
			t.Errorf("%s: known %q, error %v", c.scenario, known, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: want %q in:\n%v", c.scenario, want, err)
			}
		}
	}
}

// Tests fail if something is wrong with a cluster, even if all scenarios passed.
func TestSetupProblems(t *testing.T) {
	run := &reports.Run{Tracks: []*reports.Track{
		{
			Setup:     []*reports.Step{{Verb: "create", Status: reports.Passed}},
			Scenarios: []*reports.Scenario{{Name: "good", Status: reports.Passed}},
		},
	}}
	if err := reports.SetupProblems(run); err != nil {
		t.Error(err)
	}
	run.Tracks[0].Name = "track-1"
	run.Tracks[0].Setup = append(run.Tracks[0].Setup,
		&reports.Step{Verb: "delete", Name: "delete cluster", Status: reports.Error, Message: "it is in use"})
	const want = "track-1: delete of the cluster (delete cluster): it is in use"
	if err := reports.SetupProblems(run); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
