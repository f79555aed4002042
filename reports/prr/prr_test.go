package prr

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// Markdown answers the questions from a real run of two files of KEP-5311.
func TestMarkdown(t *testing.T) {
	data := []byte(golden.Read(t, filepath.Join("..", "testdata", "run-format-2.json")))
	run, err := reports.Read(data)
	golden.Must(t, err)
	text, err := Markdown(run, "5311")
	golden.Must(t, err)
	golden.Check(t, filepath.Join("testdata", "5311.md"), text)
	_, err = Markdown(run, "1")
	golden.Error(t, err, `label kep: "1"`)
}

// A scenario that failed, or did not complete its path, is never reported as tested.
func TestWhatFailedIsNotCalledTested(t *testing.T) {
	s := &reports.Scenario{
		Name: "s", Status: reports.Failed, Labels: map[string]string{"kep": "1"},
		Steps: []*reports.Step{
			{Verb: "create", Status: reports.Passed, State: "1.34.4 A=false"},
			{Verb: "transition", Status: reports.Passed, State: "1.34.4 A=false"},
			{Verb: "create", Status: reports.Failed, State: "1.35.4 A=true", Message: "it was rejected"},
			{Verb: "transition", Status: reports.NotRun, State: "1.35.4 A=true"},
			{Verb: "create", Status: reports.NotRun, State: "1.34.4 A=false"},
		},
	}
	text, err := Markdown(&reports.Run{Tracks: []*reports.Track{{Scenarios: []*reports.Scenario{s}}}}, "1")
	golden.Must(t, err)
	for _, want := range []string{
		"No scenario passed the whole path", "**failed**", "it was rejected",
		"(i.e. can we roll back the enablement)?\n\n*Open: no scenario answers it.*",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
}

// A gate that the last step turns off answers nothing: nothing was observed afterwards.
func TestWhatWasNotObserved(t *testing.T) {
	for last, answers := range map[string]bool{"": false, "create": true} {
		s := &reports.Scenario{
			Name: "s", Status: reports.Passed, Labels: map[string]string{"kep": "1"},
			Steps: []*reports.Step{
				{Verb: "transition", Status: reports.Passed, State: "1.34.4 A=false"},
				{Verb: "create", Status: reports.Passed, State: "1.34.4 A=true"},
				{
					Verb: "transition", Status: reports.Passed, State: "1.34.4 A=true",
					Evidence: "the cluster is now 1.34.4 A=false",
				},
			},
		}
		if last != "" {
			s.Steps = append(s.Steps, &reports.Step{Verb: last, Status: reports.Passed, State: "1.34.4 A=false"})
		}
		text, err := Markdown(&reports.Run{Tracks: []*reports.Track{{Scenarios: []*reports.Scenario{s}}}}, "1")
		golden.Must(t, err)
		_, answer, _ := strings.Cut(text, "(i.e. can we roll back the enablement)?")
		answer, _, _ = strings.Cut(answer, "######")
		if strings.Contains(answer, "*Open") == answers {
			t.Errorf("last step %q: %s", last, answer)
		}
	}
}

// A step that shows that nothing changed while the gate was turned on answers the question about default behavior.
func TestWhatStayedAsItWas(t *testing.T) {
	const off, on = "1.34.4 A=false", "1.34.4 A=true"
	for _, test := range []struct {
		states []string
		want   bool
	}{
		{[]string{off, on}, true},
		{[]string{on, on}, false},
		{[]string{off, on, off}, false}, // it shows what was unchanged while the gate was off again
	} {
		var steps []*reports.Step
		for _, state := range test.states {
			steps = append(steps, &reports.Step{Verb: "transition", Status: reports.Passed, State: state})
		}
		steps = append(steps, &reports.Step{
			Name: "as before", Verb: "unchanged", Status: reports.Passed, State: test.states[len(test.states)-1],
		})
		want := test.want
		s := &reports.Scenario{Name: "s", Status: reports.Passed, Labels: map[string]string{"kep": "1"}, Steps: steps}
		text, err := Markdown(&reports.Run{Tracks: []*reports.Track{{Scenarios: []*reports.Scenario{s}}}}, "1")
		golden.Must(t, err)
		_, answer, _ := strings.Cut(text, Default)
		answer, _, _ = strings.Cut(answer, "######")
		if strings.Contains(answer, "as before: **passed**") != want || strings.Contains(answer, "*Open") == want {
			t.Errorf("after %s: %s", test.states, answer)
		}
	}
}

// Only a kill of the API server or of etcd answers the question about them, and only a changed gate the question about
// tests.
func TestWhatAnswersNothing(t *testing.T) {
	for killed, answers := range map[string]bool{
		"killed etcd": true, "killed kube-apiserver": true, "killed kube-scheduler": false, "killed system lws": false,
		"killed system etcd-operator": false,
	} {
		s := &reports.Scenario{
			Name: "s", Status: reports.Passed, Labels: map[string]string{"kep": "1"},
			Steps: []*reports.Step{
				{Name: "away", Verb: "kill", Status: reports.Passed, State: "1.34.4", Evidence: killed},
				{Verb: "transition", Status: reports.Passed, State: "1.34.4"},
				{Verb: "create", Status: reports.Passed, State: "1.35.4"},
			},
		}
		text, err := Markdown(&reports.Run{Tracks: []*reports.Track{{Scenarios: []*reports.Scenario{s}}}}, "1")
		golden.Must(t, err)
		for heading, want := range map[string]bool{Unavailable: answers, Tests: false} {
			_, answer, _ := strings.Cut(text, heading)
			answer, _, _ = strings.Cut(answer, "######")
			if strings.Contains(answer, "*Open") == want {
				t.Errorf("%s answers %s: %s", killed, heading, answer)
			}
		}
	}
}

// A gate of one component is proven by the metric of that component. Flags and runtime configurations are no gates.
func TestGateOfAComponent(t *testing.T) {
	const off, on = "1.36.3 kube-scheduler:G=false kube-scheduler:--x=true a/b=true", "1.36.3 kube-scheduler:G=true a/b=true"
	readings := []reports.GateReading{
		{Component: "kube-apiserver", Metric: "of another"}, {Component: "kube-scheduler", Metric: "the metric"},
	}
	s := &reports.Scenario{
		Name: "s", Status: reports.Passed, Labels: map[string]string{"kep": "1"},
		Steps: []*reports.Step{
			{Verb: "create", Status: reports.Passed, State: off},
			{Verb: "transition", Status: reports.Passed, State: off},
			{Verb: "create", Status: reports.Passed, State: on},
		},
		StateGates: []reports.StateGates{{State: on, Gates: []reports.EffectiveGate{{Gate: "G", Readings: readings}}}},
	}
	text, err := Markdown(&reports.Run{Tracks: []*reports.Track{{Scenarios: []*reports.Scenario{s}}}}, "1")
	golden.Must(t, err)
	if !strings.Contains(text, "`kube-scheduler:G`, set to `true`") || !strings.Contains(text, "the metric") ||
		strings.Contains(text, "of another") || strings.Contains(text, "`a/b`") || strings.Contains(text, "--x`") {
		t.Error(text)
	}
}
