package knownissues

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// A failure can be a known issue. An error can only be one if a component of the cluster ended by itself, and the issue
// has a matching message.
func TestKnownFailure(t *testing.T) {
	issue := func(message string) []scenarios.KnownIssue {
		return []scenarios.KnownIssue{{Step: "it lives", Message: message}}
	}
	for _, test := range []struct {
		name   string
		issues []scenarios.KnownIssue
		status reports.Status
		died   bool
		want   bool
	}{
		{"a failure with the words", issue("nil pointer"), reports.Failed, false, true},
		{"a failure with other words", issue("no such thing"), reports.Failed, false, false},
		{"any failure", issue(""), reports.Failed, false, true},
		{"an error", issue("nil pointer"), reports.Error, false, false},
		{"a component that ended", issue("nil pointer"), reports.Error, true, true},
		{"a component that ended, with other words", issue("no such thing"), reports.Error, true, false},
		{"a component that ended, and no words of it", issue(""), reports.Error, true, false},
		{"an interrupt", issue("nil pointer"), reports.NotRun, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			outcome := reports.Outcome{Status: test.status, Message: "the cluster broke: panic: nil pointer dereference"}
			got, occurred := Explain(test.issues, &scenarios.Step{Name: "it lives"}, outcome, test.died)
			if is := got.Status == reports.Known; is != test.want || (len(occurred) == 1) != test.want {
				t.Errorf("known %t with %d issues, want %t", is, len(occurred), test.want)
			}
			if got.Message != outcome.Message {
				t.Errorf("the message became %q", got.Message)
			}
		})
	}
}

// A known issue explains only those problems of a step that it matches. The others decide the status of the step.
func TestSeveralProblems(t *testing.T) {
	problem := func(status reports.Status, message, evidence string) reports.Outcome {
		return reports.Outcome{Status: status, Message: message, Evidence: evidence}
	}
	pod := problem(reports.Failed, "pod a was deleted", "")
	node := problem(reports.Failed, "node b is not ready", "kubelet stopped")
	unread := problem(reports.Error, "pod c could not be read", "")
	for name, test := range map[string]struct {
		problems []reports.Outcome
		messages []string
		want     reports.Status
		first    string
		occurred int
	}{
		"none is known":               {[]reports.Outcome{pod, node}, []string{"no such thing"}, reports.Failed, "it failed", 0},
		"one of two":                  {[]reports.Outcome{pod, node}, []string{"was deleted"}, reports.Failed, node.Message, 1},
		"the other of two":            {[]reports.Outcome{pod, node}, []string{"not ready"}, reports.Failed, pod.Message, 1},
		"by its evidence":             {[]reports.Outcome{pod, node}, []string{"kubelet stopped"}, reports.Failed, pod.Message, 1},
		"by the text of the step":     {[]reports.Outcome{pod, node}, []string{"it failed"}, reports.Failed, "it failed", 0},
		"one issue for both":          {[]reports.Outcome{pod, pod}, []string{"was deleted"}, reports.Known, "it failed", 1},
		"one issue each":              {[]reports.Outcome{pod, node}, []string{"was deleted", "not ready"}, reports.Known, "it failed", 2},
		"an issue without a message":  {[]reports.Outcome{pod, node}, []string{""}, reports.Known, "it failed", 1},
		"without one, and not judged": {[]reports.Outcome{pod, node, unread}, []string{""}, reports.Error, unread.Message, 1},
		"what could not be judged":    {[]reports.Outcome{pod, unread}, []string{"was deleted"}, reports.Error, unread.Message, 1},
		"a failure, and not judged":   {[]reports.Outcome{pod, unread, node}, []string{"was deleted"}, reports.Failed, unread.Message, 1},
		"not judged, and it says why": {[]reports.Outcome{pod, unread}, []string{"pod "}, reports.Known, "it failed", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var issues []scenarios.KnownIssue
			for _, message := range test.messages {
				issues = append(issues, scenarios.KnownIssue{Step: "it lives", Message: message, Reason: "a bug"})
			}
			outcome := reports.Outcome{Status: reports.Failed, Message: "it failed", Evidence: "it failed", Problems: test.problems}
			got, occurred := Explain(issues, &scenarios.Step{Name: "it lives"}, outcome, false)
			first, rest, _ := strings.Cut(got.Message, "\n")
			if got.Status != test.want || first != test.first || len(occurred) != test.occurred {
				t.Errorf("%s with %d issues: %s", got.Status, len(occurred), got.Message)
			}
			if test.occurred > 0 && test.want != reports.Known && !strings.Contains(rest, "(a bug)") {
				t.Errorf("it does not say what is known: %s", got.Message)
			}
		})
	}
}

// An issue applies if one state of the path has all that it names.
func TestKnownVersions(t *testing.T) {
	state := func(kubernetes, system string) clusters.State {
		return clusters.State{Version: kubernetes, Systems: []clusters.System{{Name: "op", Version: system}}}
	}
	path := []clusters.State{state("1.34.4", "v1.2.3"), state("1.35.1", "v1.2.3"), state("1.35.1", "v1.10.0")}
	for _, test := range []struct {
		name       string
		kubernetes []string
		systems    map[string][]string
		want       bool
	}{
		{"a minor", []string{"1.35"}, nil, true},
		{"an exact version", []string{"1.34.3", "1.34.4"}, nil, true},
		{"another version", []string{"1.36"}, nil, false},
		{"nothing", nil, nil, false},
		{"a system", nil, map[string][]string{"op": {"v1.2.3"}}, true},
		{"a system's minor", nil, map[string][]string{"op": {"v1.10"}}, true},
		{"another minor", nil, map[string][]string{"op": {"v1.1"}}, false},
		{"another system", nil, map[string][]string{"other": {"v1.2.3"}}, false},
		{"both", []string{"1.35"}, map[string][]string{"op": {"1.2"}}, true},
		{"both, but never together", []string{"1.34"}, map[string][]string{"op": {"v1.10"}}, false},
	} {
		if got := Applies(scenarios.KnownIssue{Versions: test.kubernetes, Systems: test.systems}, path); got != test.want {
			t.Errorf("%s: applies %t, want %t", test.name, got, test.want)
		}
	}
}
