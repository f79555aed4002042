package reports

import (
	"strings"
	"testing"
)

func TestRepeatedConformance(t *testing.T) {
	report := func(statuses ...ConformanceStatus) *ConformanceReport {
		r := &ConformanceReport{}
		for i, status := range statuses {
			id := string(rune('A' + i))
			e := ConformanceEvidence{Passed: []string{"s-" + id}}
			s := ConformanceScenario{Name: "s-" + id, Status: status}
			if status == ConformanceFailed {
				e, s.Reason = ConformanceEvidence{Failed: []string{"s-" + id}}, "saw something else"
			}
			r.Requirements = append(r.Requirements, ConformanceRequirement{ID: id, Level: "core", Scenarios: e})
			r.Scenarios = append(r.Scenarios, s)
		}
		r.Conclude()
		return r
	}
	const good, bad = ConformancePassed, ConformanceFailed
	interrupted := report(good, bad)
	interrupted.Interrupted = true
	for name, c := range map[string]struct {
		runs   []*ConformanceReport
		want   string
		reason string
		code   int
	}{
		"all alike": {runs: []*ConformanceReport{report(good, good), report(good, good)}, want: "passed passed"},
		"failed each time": {
			runs: []*ConformanceReport{report(good, bad), report(good, bad)}, want: "passed failed",
			reason: "s-B: saw something else", code: ExitFailed,
		},
		"sometimes": {
			runs: []*ConformanceReport{report(good, good), report(good, bad), report(good, good)}, want: "passed unstable",
			code:   ExitFailed,
			reason: "passed in run 1, 3, failed in run 2; in run 2: s-B: saw something else",
		},
		"first failed, then not": {
			runs: []*ConformanceReport{report(good, bad), report(good, good)}, want: "passed unstable", code: ExitFailed,
			reason: "failed in run 1, passed in run 2; in run 1: s-B: saw something else",
		},
		"interrupted": {
			runs: []*ConformanceReport{report(good, good), interrupted}, want: "passed passed",
			code: ExitInterrupted,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := RepeatedConformance(c.runs)
			var got []string
			for i, q := range r.Requirements {
				got = append(got, string(q.Status))
				if r.Scenarios[i].Status != q.Status {
					t.Errorf("scenario %s is %s, its requirement %s", r.Scenarios[i].Name, r.Scenarios[i].Status, q.Status)
				}
			}
			if strings.Join(got, " ") != c.want || r.ExitCode() != c.code || r.Requirements[1].Reason != c.reason {
				t.Errorf("got %q, exit code %d, reason %q", got, r.ExitCode(), r.Requirements[1].Reason)
			}
			if unstable := strings.Contains(c.want, "unstable"); unstable != (r.Core.Result == Failure &&
				strings.Contains(r.Summary, "1 unstable")) {
				t.Errorf("%s: %s", r.Core.Result, r.Summary)
			}
			if page := ConformanceMarkdown(r); strings.Contains(c.want, "unstable") != strings.Contains(page,
				"1 requirement came out differently") {
				t.Error(page)
			}
		})
	}
}

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
		{run(Passed, Passed, Failed), "run-1"},
		{run(Passed, Failed, Failed), "run-2"},
		{run(Passed, NotRun, Failed), "run-3"},
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
