package harness_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/reports"
)

// Rejections in a row are checked together. The report is the same as if each had been checked by itself.
func TestRejectionsInARow(t *testing.T) {
	rejection := apitest.Status(422, "Invalid", "never")
	for name, test := range map[string]struct {
		// first is the answer to the first try of this row; there are six rows.
		row            string
		first          apitest.Fault
		statuses, says string
		sent           int
	}{
		"all rejected": {
			"3",
			apitest.Fault{Status: rejection},
			"passed passed passed passed passed passed passed passed",
			"", 7,
		},
		"one stored": {
			"3",
			apitest.Fault{Status: rejection, Stored: true},
			"passed passed failed notRun notRun notRun notRun notRun", "create ConfigMap a-3 was rejected, but it " +
				"was stored",
			6,
		},
		"the last is stored": {
			"6",
			apitest.Fault{Status: rejection, Stored: true},
			"passed passed passed passed passed failed notRun notRun", "create ConfigMap a-6 was rejected, but it " +
				"was stored",
			6,
		},
		"one accepted": {
			"3",
			apitest.Fault{Warnings: []string{"as usual"}},
			"passed passed failed notRun notRun notRun notRun notRun",
			"create ConfigMap a-3 was accepted, but should have been rejected", 3,
		},
		"one otherwise": {
			"3",
			apitest.Fault{Status: apitest.Status(409, "Conflict", "no")},
			"passed passed failed notRun notRun notRun notRun notRun", "create ConfigMap a-3 was rejected, but not as expected",
			3,
		},
		"one tried again": {"3", apitest.Fault{}, "passed passed passed passed passed passed passed passed", "", 8},
		"and stored before": {
			"3",
			apitest.Fault{Stored: true},
			"passed passed failed notRun notRun notRun notRun notRun",
			"create ConfigMap a-3 was accepted, but should have been rejected", 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tried := false
			p := &provider{misbehave: func(r apitest.Request) *apitest.Fault {
				switch {
				case r.Verb != "create" || r.Kind != "ConfigMap" || strings.HasSuffix(r.Manager, "-7"):
					return nil
				case strings.HasSuffix(r.Manager, "-"+test.row) && !tried:
					tried = true
					return &test.first
				}
				return &apitest.Fault{Status: rejection}
			}}
			steps := "  - name: rejected\n    cases: [{n: 1}, {n: 2}, {n: 3}, {n: 4}, {n: 5}, {n: 6}]\n" +
				"    create: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"a-${case.n}\"}}\n    expect: {rejected: " +
				"{code: 422}}\n" +
				makeMap("b") + "  - eventually: {apiVersion: v1, kind: ConfigMap, name: b}\n"
			run := ran(t, p, scenario("one", steps), harness.Options{})
			s := find(t, run, "one")
			if got := statuses(s.Steps); got != test.statuses {
				t.Fatalf("%s: %s", got, s.Message)
			}
			contains(t, s.Message, test.says)
			server := p.clusters[0].server
			if got := server.Requests("create", "ConfigMap"); got != test.sent {
				t.Errorf("%d creations, want %d", got, test.sent)
			}
			for i, step := range s.Steps[1:] {
				if before := s.Steps[i]; !step.Started.IsZero() && (step.Started.Before(before.Finished) ||
					step.Finished.Before(step.Started)) {
					t.Errorf("step %d from %s to %s, after one that ended at %s", i+2, step.Started, step.Finished, before.Finished)
				}
			}
		})
	}
}

// Rejections that were not checked when the run was stopped did not pass.
func TestRejectionsInARowAreInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	p := &provider{misbehave: func(r apitest.Request) *apitest.Fault {
		if r.Verb != "create" || r.Kind != "ConfigMap" {
			return nil
		}
		if r.Number == 3 {
			cancel(errors.New("stopped by the test"))
		}
		return &apitest.Fault{Status: apitest.Status(422, "Invalid", "never")}
	}}
	var steps strings.Builder
	for n := range 5 {
		text := strings.Replace(makeMap(fmt.Sprint("a-", n)), "metadata: {", "metadata: {namespace: {not: a text}, ", 1)
		fmt.Fprintf(&steps, "%s    expect: {rejected: {code: 422}}\n", text)
	}
	run, err := execute(ctx, t, p, scenario("one", steps.String()), harness.Options{})
	if err == nil {
		t.Error("the run was not interrupted")
	}
	if s := find(t, run, "one"); s.Status != reports.NotRun || statuses(s.Steps) != "notRun notRun notRun notRun notRun" {
		t.Errorf("%s: %s", s.Status, statuses(s.Steps))
	} else {
		contains(t, s.Steps[0].Message, "it could not be checked that nothing was stored")
	}
}
