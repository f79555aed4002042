package knownissues

import (
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
			if got := Failure(test.issues, &scenarios.Step{Name: "it lives"}, outcome, test.died) != nil; got != test.want {
				t.Errorf("known %t, want %t", got, test.want)
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
