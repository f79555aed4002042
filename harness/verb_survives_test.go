package harness

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/readback"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/harness/window"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// The names that except accepts are the survey's checks without warnings, which never fail a step.
func TestExceptNamesTheChecksOfSurveys(t *testing.T) {
	var names []string
	for _, check := range survey.Checks() {
		if check != survey.Warning {
			names = append(names, string(check))
		}
	}
	if got, want := strings.Join(scenarios.SurvivalChecks(), " "), strings.Join(names, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSurvived(t *testing.T) {
	found := func(severity upgrades.Severity) *upgrades.Finding {
		return &upgrades.Finding{
			Severity: severity, Hop: "1 -> 2", What: "it cannot be labelled", Words: "422 no",
			Objects: []upgrades.Object{{Name: "Service a/b"}},
		}
	}
	for _, test := range []struct {
		name     string
		findings []*upgrades.Finding
		now      bool
		want     reports.Status
		words    string
	}{
		{"nothing", nil, false, reports.Passed, ""},
		{
			"it breaks",
			[]*upgrades.Finding{found(upgrades.Breaks)},
			false, reports.Failed,
			"1 -> 2: Service a/b: it cannot be labelled: 422 no",
		},
		{"a change is noted", []*upgrades.Finding{found(upgrades.Changes)}, false, reports.Passed, ""},
		{
			"not judged is no success",
			[]*upgrades.Finding{found(upgrades.Unjudged)},
			false, reports.Error,
			"could not be judged",
		},
		{"a failure is a failure, whatever else could not be judged", []*upgrades.Finding{
			found(upgrades.Unjudged),
			found(upgrades.Breaks),
		}, false, reports.Failed, "not everything survives"},
		{
			"broken before is not blamed on what came after",
			[]*upgrades.Finding{found(upgrades.Before)},
			false, reports.Passed,
			"",
		},
		{"broken now", []*upgrades.Finding{found(upgrades.Before)}, true, reports.Failed, "it cannot be labelled"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := []*upgrades.State{{Name: "1", Reached: true}, {Name: "2", Reached: true}}
			got := survived(&upgrades.Report{Path: path, Findings: test.findings}, test.now)
			if got.Status != test.want || !strings.Contains(got.Message, test.words) ||
				(got.Message == "") != (test.want == reports.Passed) {
				t.Errorf("got %s, %q", got.Status, got.Message)
			}
			// One finding is what the whole step says.
			if several := test.want != reports.Passed && len(test.findings) > 1; (len(got.Problems) > 1) != several {
				t.Errorf("%d findings are the problems %v", len(test.findings), got.Problems)
			}
			if passed := got.Status == reports.Passed; passed && (got.Note == "") != (len(test.findings) == 0) {
				t.Errorf("note %q", got.Note)
			}
		})
	}
}

// Each of several problems has only evidence of its own: a gate that changed may be behind others.
func TestProblemsOfChecks(t *testing.T) {
	finding := func(what string) *upgrades.Finding {
		return &upgrades.Finding{
			Severity: upgrades.Breaks, Kind: "Service", What: what, Cause: "because of " + what, Flips: []string{"Gate on"},
		}
	}
	path := []*upgrades.State{{Name: "1", Reached: true}, {Name: "2", Reached: true}}
	got := survived(&upgrades.Report{Path: path, Findings: []*upgrades.Finding{finding("a"), finding("b")}}, false)
	if len(got.Problems) != 2 || !strings.Contains(got.Problems[0].Evidence, "because of a") ||
		strings.Contains(got.Problems[0].Evidence, "Gate") || strings.Contains(got.Problems[0].Evidence, "because of b") {
		t.Errorf("survives has the problems %v", got.Problems)
	}
	verdict := window.Verdict{Problems: []string{"rules: a"}, Unjudged: []string{"leader: b"}}
	if got := problemsOf(verdict, nil); len(got) != 2 || got[0].Status != reports.Failed || got[1].Status != reports.Error {
		t.Errorf("window has the problems %v", got)
	}
	verdict.Unjudged = nil
	if got := problemsOf(verdict, nil); got != nil {
		t.Errorf("a window with one problem has the problems %v", got)
	}
	lost := lostOf(&stepLoad{}, readback.Found{Lost: strings.Split("abcdefg", "")})
	if last := lost[len(lost)-1].Message; len(lost) != 7 || !strings.HasSuffix(last, "an acknowledged write is lost: g") {
		t.Errorf("a load has the problems %v", lost)
	}
}
