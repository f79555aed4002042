package specs

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/reports"
)

func TestVerdict(t *testing.T) {
	step := func(status reports.Status, message string) []*reports.Step {
		return []*reports.Step{{Name: "refuse it", Verb: "create", Status: status, Message: message}}
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
	for i, c := range []struct {
		known string
		want  []string
	}{
		{},
		{want: []string{"bad: failed", "refuse it", "it was accepted"}},
		{known: "see there"},
		{want: []string{"never: notRun", "create of the cluster (1.34.4): no room"}},
		{want: []string{"broken: error", "the cluster broke"}},
		{want: []string{"of no status: "}},
		{want: []string{"not in the run's result"}},
	} {
		known, err := verdict(run, i)
		if known != c.known || (err != nil) != (c.want != nil) {
			t.Errorf("scenario %d: known %q, error %v", i, known, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("scenario %d: want %q in:\n%v", i, want, err)
			}
		}
	}
}
