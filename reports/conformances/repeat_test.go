package conformances

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/reports"
)

func TestRepeated(t *testing.T) {
	report := func(statuses ...Status) *Report {
		r := &Report{}
		for i, status := range statuses {
			id := string(rune('A' + i))
			e := Evidence{Passed: []string{"s-" + id}}
			s := Scenario{Name: "s-" + id, Status: status}
			if status == Failed {
				e, s.Reason = Evidence{Failed: []string{"s-" + id}}, "saw something else"
			}
			r.Requirements = append(r.Requirements, Requirement{ID: id, Level: "core", Scenarios: e})
			r.Scenarios = append(r.Scenarios, s)
		}
		r.Conclude()
		return r
	}
	const good, bad = Passed, Failed
	interrupted := report(good, bad)
	interrupted.Interrupted = true
	for name, c := range map[string]struct {
		runs   []*Report
		want   string
		reason string
		code   int
	}{
		"all alike": {runs: []*Report{report(good, good), report(good, good)}, want: "passed passed"},
		"failed each time": {
			runs: []*Report{report(good, bad), report(good, bad)}, want: "passed failed",
			reason: "s-B: saw something else", code: reports.ExitFailed,
		},
		"sometimes": {
			runs: []*Report{report(good, good), report(good, bad), report(good, good)}, want: "passed unstable",
			code:   reports.ExitFailed,
			reason: "passed in run 1, 3, failed in run 2; in run 2: s-B: saw something else",
		},
		"first failed, then not": {
			runs: []*Report{report(good, bad), report(good, good)}, want: "passed unstable", code: reports.ExitFailed,
			reason: "failed in run 1, passed in run 2; in run 1: s-B: saw something else",
		},
		"interrupted": {
			runs: []*Report{report(good, good), interrupted}, want: "passed passed",
			code: reports.ExitInterrupted,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := Repeated(c.runs)
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
			if page := Markdown(r); strings.Contains(c.want, "unstable") != strings.Contains(page,
				"1 requirement had different results") {
				t.Error(page)
			}
		})
	}
}
