package conformances

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

func TestRepeated(t *testing.T) {
	report := func(statuses ...Status) *Report {
		r := &Report{}
		for i, status := range statuses {
			id := string(rune('A' + i))
			e := Evidence{Passed: []string{"s-" + id}}
			s := Scenario{Name: "s-" + id, Status: status}
			switch status {
			case Failed:
				e, s.Reason = Evidence{Failed: []string{"s-" + id}}, "saw something else"
			case Untested:
				e, s.Reason = Evidence{Untested: []string{"s-" + id}}, "the cluster broke"
			}
			r.Requirements = append(r.Requirements, Requirement{ID: id, Level: "core", Scenarios: e})
			r.Scenarios = append(r.Scenarios, s)
		}
		r.Conclude()
		return r
	}
	const good, bad = Passed, Failed
	interrupted, untested := report(good, bad), report(good, Untested)
	interrupted.Interrupted, untested.Interrupted = true, true
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
			runs: []*Report{report(good, good), interrupted}, want: "passed unstable",
			code: reports.ExitInterrupted, reason: "passed in run 1, failed in run 2; in run 2: s-B: saw something else",
		},
		"once not judged": {
			runs: []*Report{report(good, good), report(good, Untested)}, want: "passed untested", code: reports.ExitError,
			reason: "untested in run 2: s-B: the cluster broke",
		},
		"failed, and once not judged": {
			runs: []*Report{report(good, Untested), report(good, bad)}, want: "passed failed", code: reports.ExitFailed,
			reason: "s-B: saw something else",
		},
		"sometimes, and once not judged": {
			runs: []*Report{report(good, Untested), report(good, good), report(good, bad)}, want: "passed unstable",
			code:   reports.ExitFailed,
			reason: "untested in run 1, passed in run 2, failed in run 3; in run 3: s-B: saw something else",
		},
		"interrupted, and nothing failed": {
			runs: []*Report{report(good, good), untested}, want: "passed passed", code: reports.ExitInterrupted,
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

// The last run was interrupted after a step of one scenario had failed, and before others were reached. Its requirement
// failed in this run, and the merged report can be read back.
func TestRepeatedAndInterruptedAfterAFailedStep(t *testing.T) {
	report := func(status Status, e Evidence, rest Status) *Report {
		r := &Report{
			APIVersion: APIVersion, Kind: Kind,
			Implementation: Implementation{
				Organization: "acme", Project: "kai", URL: "https://example.com", Version: "1", Contact: []string{"@acme"},
			},
			Requirements: []Requirement{{ID: "A", Level: coreLevel, Scenarios: e}},
			Scenarios:    []Scenario{{Name: "s", Status: status}, {Name: "rest", Status: rest}, {Name: "before", Status: Passed}},
		}
		r.Conclude()
		return r
	}
	first := report(Passed, Evidence{Passed: []string{"s", "rest", "before"}}, Passed)
	last := report(Untested, Evidence{
		Failed: []string{"s"}, Passed: []string{"before"}, Untested: []string{"rest"},
		Decided: map[string]string{"s": "step 2"},
	}, Untested)
	last.Interrupted = true
	merged := Repeated([]*Report{first, last})
	data, err := YAML(merged)
	golden.Must(t, err)
	if _, err := Read(data); err != nil {
		t.Errorf("the merged report cannot be read: %v\n%s", err, data)
	}
	for _, s := range merged.Scenarios {
		want := Passed
		if s.Name == "s" {
			want = Unstable
		}
		if s.Status != want {
			t.Errorf("scenario %s is %s, want %s", s.Name, s.Status, want)
		}
	}
	if q := merged.Requirements[0]; q.Status != Unstable || !strings.Contains(q.Reason, "failed in run 2") {
		t.Errorf("%s: %s", q.Status, q.Reason)
	}
}

// The first run met the requirement in another variant, since its statement failed. The second one was interrupted
// after the statement had failed.
func TestRepeatedAndInterruptedBeforeTheReadings(t *testing.T) {
	for name, c := range map[string]struct {
		others []string
		want   Status
	}{
		"the readings did not run": {nil, Passed},
		"a reading failed, too":    {[]string{"reading"}, Unstable},
	} {
		first := &Report{
			Requirements: []Requirement{{
				ID: "A", Level: coreLevel, Variant: "round",
				Scenarios: Evidence{Passed: []string{"reading"}, Others: []string{"stated"}},
			}},
			Scenarios: []Scenario{{Name: "stated", Status: Failed}, {Name: "reading", Status: Passed}},
		}
		last := &Report{
			Interrupted: true,
			Requirements: []Requirement{{
				ID: "A", Level: coreLevel, Scenarios: Evidence{Failed: []string{"stated"}, Others: c.others},
			}},
			Scenarios: []Scenario{{Name: "stated", Status: Failed}},
		}
		for _, other := range c.others {
			last.Scenarios = append(last.Scenarios, Scenario{Name: other, Status: Failed})
		}
		first.Conclude()
		last.Conclude()
		if q := Repeated([]*Report{first, last}).Requirements[0]; q.Status != c.want {
			t.Errorf("%s: %s: %s", name, q.Status, q.Reason)
		}
	}
}

// A requirement that is met in different variants is unstable, and so is the report that is read back.
func TestRepeatedInOtherVariants(t *testing.T) {
	as := func(variant string) *Report {
		r := &Report{
			APIVersion: APIVersion, Kind: Kind,
			Implementation: Implementation{
				Organization: "acme", Project: "kai", URL: "https://example.com", Version: "1", Contact: []string{"@acme"},
			},
			Requirements: []Requirement{{
				ID: "A", Level: coreLevel, Variant: variant, Scenarios: Evidence{Passed: []string{"s"}},
			}},
			Scenarios: []Scenario{{Name: "s", Status: Passed}},
		}
		r.Conclude()
		return r
	}
	for _, c := range []struct {
		runs   []*Report
		status Status
		reason string
		code   int
	}{
		{[]*Report{as("square"), as("square")}, Passed, "", reports.ExitPassed},
		{
			[]*Report{as("square"), as("round"), as("square")},
			Unstable, "met as square in run 1, 3, round in run 2",
			reports.ExitFailed,
		},
	} {
		text, err := YAML(Repeated(c.runs))
		golden.Must(t, err)
		r, err := Read(text)
		golden.Must(t, err)
		if q := r.Requirements[0]; q.Status != c.status || q.Reason != c.reason || r.ExitCode() != c.code {
			t.Errorf("got %s because %q, exit code %d; want %s because %q, %d", q.Status, q.Reason, r.ExitCode(), c.status,
				c.reason, c.code)
		}
	}
	// The variants of the runs are the only evidence.
	edited := Repeated([]*Report{as("square"), as("round")})
	edited.Requirements[0].Variants = nil
	if text, err := YAML(edited); err != nil {
		t.Error(err)
	} else if _, err := Read(text); err == nil {
		t.Error("a requirement is unstable without a reason")
	}
}

// A report of selected scenarios says so wherever its result is shown. The requirement that only an interrupted run
// failed, or that only a later run has, is in the merged report.
func TestWhatWasSelected(t *testing.T) {
	part := &Report{
		Focus: "^a", OutsideProfile: []string{"B"},
		Requirements: []Requirement{{ID: "A", Level: coreLevel, Scenarios: Evidence{Passed: []string{"a"}}}},
		Scenarios:    []Scenario{{Name: "a", Status: Passed}},
	}
	part.Conclude()
	if want := "Only scenarios that match ^a. Core: all 1 requirement passed."; !strings.HasPrefix(part.Summary, want) {
		t.Errorf("got %q, want %q", part.Summary, want)
	}
	if page := Markdown(part); !strings.Contains(page, "Not covered by a scenario that matches ^a: B.") {
		t.Error(page)
	}
	whole := &Report{Requirements: part.Requirements, Scenarios: part.Scenarios}
	whole.Conclude()
	diff, err := Compare(whole, part)
	golden.Must(t, err)
	if !strings.Contains(diff.String(), "that matches ^a\n") {
		t.Error(diff)
	}
	later := &Report{Requirements: []Requirement{{ID: "B", Level: coreLevel, Scenarios: Evidence{Failed: []string{"b"}}}}}
	later.Conclude()
	if merged := Repeated([]*Report{whole, later}); len(merged.Requirements) != 2 || merged.Core.Result != Failure {
		t.Errorf("%s", merged.Summary)
	}
}

// A run that could not judge a scenario does not make the merged report contradict itself.
func TestRepeatedWithAScenarioThatOnceWasNotJudged(t *testing.T) {
	report := func(a, b Status) *Report {
		r := &Report{
			APIVersion: APIVersion, Kind: Kind,
			Implementation: Implementation{
				Organization: "acme", Project: "kai", URL: "https://example.com", Version: "1", Contact: []string{"@acme"},
			},
		}
		var e Evidence
		for name, status := range map[string]Status{"a": a, "b": b} {
			list := map[Status]*[]string{Passed: &e.Passed, Failed: &e.Failed, Untested: &e.Untested}[status]
			*list = append(*list, name)
			r.Scenarios = append(r.Scenarios, Scenario{Name: name, Status: status})
		}
		r.Requirements = []Requirement{{ID: "A", Level: coreLevel, Scenarios: e}}
		r.Conclude()
		return r
	}
	for name, test := range map[string]struct {
		first, second *Report
		want          Status
	}{
		"failed both times":   {report(Failed, Passed), report(Failed, Untested), Failed},
		"another one each":    {report(Passed, Untested), report(Untested, Passed), Untested},
		"passed, if judged":   {report(Passed, Passed), report(Passed, Untested), Untested},
		"unstable, too":       {report(Failed, Untested), report(Passed, Passed), Unstable},
		"not judged at first": {report(Untested, Untested), report(Passed, Failed), Failed},
	} {
		merged := Repeated([]*Report{test.first, test.second})
		if got := merged.Requirements[0].Status; got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		data, err := YAML(merged)
		golden.Must(t, err)
		if _, err := Read(data); err != nil {
			t.Errorf("%s: the merged report cannot be read: %v\n%s", name, err, data)
		}
	}
}
