package knownissues

import (
	"testing"

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
