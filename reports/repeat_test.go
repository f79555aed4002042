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
	later := RepeatedRun([]Part{{Run: run(NotRun), Prefix: "run-1"}, {Run: run(Failed), Prefix: "run-2"}})
	if got := later.Tracks[0].Scenarios[0]; got.Status != Failed {
		t.Errorf("it failed in the second run, but is %s", got.Status)
	}
	if merged.Runs != 3 {
		t.Errorf("it combines %d runs, want 3", merged.Runs)
	}
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
	if err != nil || !strings.Contains(string(text), "unstable: passed in run 1; failed in run 2; notRun in run 3: "+
		"look: saw something else") {
		t.Errorf("%v\n%s", err, text)
	}
}

// Work on a cluster that failed in any run is in the combined run, and decides its exit code.
func TestRepeatedRunKeepsFailedSetup(t *testing.T) {
	run := func(deletion Status, message string) *Run {
		return &Run{Tracks: []*Track{{
			Name: "track-1",
			Setup: []*Step{
				{Verb: "create", Status: Passed}, {Verb: "delete", Name: "cluster", Status: deletion, Message: message},
			},
			Scenarios: []*Scenario{{Name: "a", Status: Passed}},
		}}}
	}
	for name, c := range map[string]struct {
		runs []Part
		code int
		want string
	}{
		"all passed": {[]Part{{Run: run(Passed, "")}, {Run: run(Passed, ""), Prefix: "run-2"}}, ExitPassed, ""},
		"the first failed": {
			[]Part{{Run: run(Failed, "busy")}, {Run: run(Failed, "late"), Prefix: "run-2"}}, ExitError, "busy",
		},
		"another failed": {
			[]Part{{Run: run(Passed, "")}, {Run: run(Passed, "")}, {Run: run(Failed, "busy"), Prefix: "run-3"}},
			ExitError,
			"in run-3: busy",
		},
	} {
		merged := RepeatedRun(c.runs)
		setup := merged.Tracks[0].Setup
		if code := ExitCode(merged); code != c.code || len(setup) != 2 || setup[1].Message != c.want {
			t.Errorf("%s: exit code %d, want %d; message %q, want %q", name, code, c.code, setup[1].Message, c.want)
		}
		if first := c.runs[0].Run.Tracks[0].Setup[1]; strings.HasPrefix(first.Message, "in ") {
			t.Errorf("%s: the first run was changed", name)
		}
	}
}
