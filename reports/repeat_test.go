package reports

import (
	"strings"
	"testing"
)

func TestRepeatedRun(t *testing.T) {
	run := func(statuses ...Status) *Run {
		r := &Run{Tracks: []*Track{{Name: "track-1"}}}
		for i, status := range statuses {
			s := &Scenario{
				Name: string(rune('a' + i)), Status: status,
				Steps: []*Step{{Name: "look", Verb: "eventually", Status: status}},
			}
			s.Artifacts = []string{s.Name + "/" + HistoryFile}
			if status == Failed {
				s.Steps[0].Message = "saw something else"
			}
			r.Tracks[0].Scenarios = append(r.Tracks[0].Scenarios, s)
		}
		return r
	}
	merged := RepeatedRun([]Part{
		{Run: run(Passed, Passed, Failed), Prefix: "run-1"},
		{Run: run(Passed, Failed, Failed), Prefix: "run-2"},
		{Run: run(Passed, NotRun, Failed), Prefix: "run-3"},
	})
	for i, want := range []struct {
		status   Status
		runs     int
		artifact string
	}{{Passed, 0, "run-1/a/history.jsonl"}, {Failed, 3, "run-2/b/history.jsonl"}, {Failed, 0, "run-1/c/history.jsonl"}} {
		s := merged.Tracks[0].Scenarios[i]
		if s.Status != want.status || len(s.Runs) != want.runs || len(s.Artifacts) != 1 || s.Artifacts[0] != want.artifact {
			t.Errorf("%s: %s %v %v", s.Name, s.Status, s.Runs, s.Artifacts)
		}
	}
	text, err := JUnit(merged)
	if err != nil || !strings.Contains(string(text), "unstable: passed in run 1, failed in run 2, notRun in run 3: "+
		"look: saw something else") {
		t.Errorf("%v\n%s", err, text)
	}
}
