package reports_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2/reporters"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/reporttest"
)

func TestJUnit(t *testing.T) {
	for _, st := range reporttest.Stories() {
		t.Run(st.Name, func(t *testing.T) {
			run := reporttest.Told(t, st)
			text, err := reports.JUnit(run)
			golden.Must(t, err)
			for _, problem := range reporttest.CheckJUnit(text) {
				t.Error(problem)
			}
			golden.Check(t, "testdata/junit-"+st.Name+".xml", string(text))
			if code := reports.ExitCode(run); code != st.Code {
				t.Errorf("exit code %d, want %d", code, st.Code)
			}
		})
	}
}

func TestJUnitOfManyScenarios(t *testing.T) {
	many := &reports.Run{Provider: "local", Tracks: []*reports.Track{{Name: "track-1"}}}
	for i := range 300 {
		many.Tracks[0].Scenarios = append(many.Tracks[0].Scenarios, &reports.Scenario{
			Name: fmt.Sprintf("same-name-%d", i/2), System: []string{"a", "b", ""}[i%3],
			Steps: []*reports.Step{{Verb: "create"}},
		})
	}
	s := reporttest.NewStage(many)
	statuses := []reports.Status{reports.Passed, reports.Failed, reports.Error, reports.Passed, reports.NotRun}
	for i := range 300 {
		s.Begin(0, i)
		s.StartStep(s.Scenario(0, i), s.Scenario(0, i).Steps[0], "")
		s.Wait(7)
		s.FinishStep(s.Scenario(0, i), s.Scenario(0, i).Steps[0], reports.Outcome{
			Status:  statuses[i%5],
			Message: "as planned",
		})
		s.End(0, i, reports.Verdict{})
	}
	golden.Must(t, s.Finish())
	text, err := reports.JUnit(s.Run())
	golden.Must(t, err)
	for _, problem := range reporttest.CheckJUnit(text) {
		t.Error(problem)
	}
	var all reporters.JUnitTestSuites
	golden.Must(t, xml.Unmarshal(text, &all))
	if all.Tests != 300 || all.Failures != 60 || all.Errors != 60 || all.Disabled != 60 || all.Time != 2.1 {
		t.Errorf("300 scenarios are counted as %+v", [...]any{all.Tests, all.Failures, all.Errors, all.Disabled, all.Time})
	}
	names := []string{}
	for _, suite := range all.TestSuites {
		names = append(names, suite.Name)
	}
	if want := []string{"a", "b", "scenarios"}; !slices.Equal(names, want) {
		t.Errorf("suites %q, want %q", names, want)
	}
	again, _ := reports.JUnit(s.Run())
	if !bytes.Equal(text, again) {
		t.Error("the same run is written in two ways")
	}
}

// All cases of a run that never began are skipped, and an error says why, so that it does not look like a success.
func TestJUnitOfARunThatNeverBegan(t *testing.T) {
	text, err := reports.JUnit(reports.NewRecorder(reporttest.Plan(), nil).Run())
	golden.Must(t, err)
	for _, problem := range reporttest.CheckJUnit(text) {
		t.Error(problem)
	}
	var all reporters.JUnitTestSuites
	golden.Must(t, xml.Unmarshal(text, &all))
	if all.Tests != 4 || all.Disabled != 3 || all.Errors != 1 {
		t.Errorf("%d of %d cases are skipped, %d are errors; want 3 of 4 and 1", all.Disabled, all.Tests, all.Errors)
	}
}

// The name of a case is the same in all runs: times, patch versions and namespaces are not in it.
func TestJUnitNamesAreStable(t *testing.T) {
	names := func(st reporttest.Story, change func(string) string) (all []string) {
		t.Helper()
		p := reporttest.Plan()
		for _, track := range p.Tracks {
			for i := range track.Path {
				track.Path[i] = change(track.Path[i])
			}
			for _, step := range track.Setup {
				step.Name, step.Change = change(step.Name), change(step.Change)
			}
			for _, s := range track.Scenarios {
				for i := range s.Versions {
					s.Versions[i] = change(s.Versions[i])
				}
			}
		}
		s := reporttest.NewStage(p)
		s.Wait(len(change("1.34.4")) * 1000)
		st.Play(s)
		golden.Must(t, s.Finish())
		text, err := reports.JUnit(s.Run())
		golden.Must(t, err)
		var suites reporters.JUnitTestSuites
		golden.Must(t, xml.Unmarshal(text, &suites))
		for _, suite := range suites.TestSuites {
			for _, c := range suite.TestCases {
				all = append(all, suite.Name+": "+c.Classname+": "+c.Name)
			}
		}
		return all
	}
	for _, st := range reporttest.Stories() {
		one := names(st, func(text string) string { return text })
		other := names(st, func(text string) string {
			return strings.NewReplacer("1.34.4", "1.34.11", "1.35.4", "1.35.9").Replace(text)
		})
		if len(one) == 0 || !slices.Equal(one, other) {
			t.Errorf("%s: the cases are %q, and with other patch versions %q", st.Name, one, other)
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	for _, st := range reporttest.Stories() {
		if st.Name == "control-characters" {
			continue // JSON replaces bytes that are no UTF-8
		}
		t.Run(st.Name, func(t *testing.T) {
			run := reporttest.Told(t, st)
			text, err := reports.JSON(run)
			golden.Must(t, err)
			var back reports.Run
			decoder := json.NewDecoder(bytes.NewReader(text))
			decoder.DisallowUnknownFields()
			golden.Must(t, decoder.Decode(&back))
			again, err := reports.JSON(&back)
			golden.Must(t, err)
			if !bytes.Equal(text, again) {
				t.Errorf("the run changed on its way through JSON:\n%s\n%s", text, again)
			}
			if a, b := reports.Count(run), reports.Count(&back); !reflect.DeepEqual(a, b) {
				t.Errorf("counted %v before and %v after", a, b)
			}
			if st.Name == "failed" {
				golden.Check(t, "testdata/run-failed.json", string(text))
			}
		})
	}
}

// CheckJUnit accepts a good report and finds each of these mistakes.
func TestCheckJUnit(t *testing.T) {
	good := `<testsuites tests="1" failures="0" errors="0" disabled="0"><testsuite name="a" tests="1" errors="0" failures="0" time="1" timestamp="t">` +
		`<testcase name="x" classname="a" status="passed" time="0.1"></testcase></testsuite></testsuites>`
	if problems := reporttest.CheckJUnit([]byte(good)); len(problems) > 0 {
		t.Fatal(problems)
	}
	for name, change := range map[string][2]string{
		"a missing attribute": {` classname="a"`, ``},
		"an exponent":         {`time="0.1"`, `time="1e-05"`},
		"a wrong count":       {`errors="0" failures="0" time`, `errors="1" failures="0" time`},
		"a wrong sum":         {`tests="1" failures`, `tests="2" failures`},
		"disabled, unskipped": {`tests="1" errors`, `tests="1" disabled="1" errors`},
		"skipped at the root": {`disabled="0"><testsuite`, `disabled="0" skipped="0"><testsuite`},
		"no XML":              {`</testsuites>`, ``},
		"an unknown element":  {`</testcase>`, `<because/></testcase>`},
		"a wrong order":       {`</testcase>`, `<system-out/><skipped/></testcase>`},
		"a hidden skip":       {`</testcase>`, `<skipped/></testcase>`},
		"a false success":     {`status="passed"`, `status="notRun"`},
	} {
		if text := strings.Replace(good, change[0], change[1], 1); text == good || len(reporttest.CheckJUnit([]byte(text))) == 0 {
			t.Errorf("%s is not found", name)
		}
	}
}
