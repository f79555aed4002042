package harness_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
)

func TestExec(t *testing.T) {
	lost := errors.New("the connection broke")
	unstarted := fmt.Errorf("no such container: %w", clusters.ErrNotStarted)
	type answer struct {
		stdout string
		code   int
		err    error
	}
	for name, test := range map[string]struct {
		step    string
		answers []answer // the last one repeats
		want    reports.Status
		calls   int // 0: any number
		message string
	}{
		"as expected": {"{pod: p, run: [a, b]}", []answer{{stdout: "x"}}, reports.Passed, 1, ""},
		"another code": {
			"{pod: p, run: [a, b]}",
			[]answer{{code: 7}},
			reports.Failed, 1,
			"exec in pod one/p: a b: expected exit code 0, got 7",
		},
		"the code that is wanted": {
			"{pod: p, run: [a], expect: {exitCode: 7}}",
			[]answer{{code: 7}},
			reports.Passed, 1,
			"",
		},
		"another output": {
			"{pod: p, run: [a], expect: {stdout: y}}",
			[]answer{{stdout: "x"}},
			reports.Failed, 1,
			"stdout",
		},
		"at last, with within": {
			"{pod: p, run: [a], within: 10s}",
			[]answer{{code: 1}, {code: 1}, {}},
			reports.Passed,
			3, "",
		},
		"at last, once it can start": {
			"{pod: p, run: [a]}",
			[]answer{{err: unstarted}, {err: unstarted}, {}},
			reports.Passed, 3, "",
		},
		"started, and then failed": {
			"{pod: p, run: [a]}",
			[]answer{{err: unstarted}, {code: 1}},
			reports.Failed, 2,
			"got 1",
		},
		"nobody saw it end": {
			"{pod: p, run: [a]}",
			[]answer{{err: lost}},
			reports.Error, 1,
			"the connection broke",
		},
		"it never starts": {
			"{pod: p, run: [a], within: 100ms}",
			[]answer{{err: unstarted}},
			reports.Error, 0,
			"no such container",
		},
		"nobody sees a failure's end": {
			"{pod: p, run: [a], expect: {exitCode: 1}}",
			[]answer{{err: lost, code: 1}},
			reports.Error, 1, "the connection broke",
		},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			p := &provider{exec: func(call int, pod string, command []string) (string, string, int, error) {
				calls = call
				if pod != "one/p" || command[0] != "a" {
					t.Errorf("ran %q in %s", command, pod)
				}
				a := test.answers[min(call, len(test.answers))-1]
				return a.stdout, "", a.code, a.err
			}}
			run := ran(t, p, scenario("one", "  - exec: "+test.step+"\n    outputs: {said: stdout}\n"), harness.Options{})
			s := find(t, run, "one")
			if s.Status != test.want || !strings.Contains(s.Steps[0].Message, test.message) {
				t.Errorf("%s, want %s with %q: %s", s.Status, test.want, test.message, s.Steps[0].Message)
			}
			if test.calls != 0 && calls != test.calls {
				t.Errorf("it was run %d times, want %d", calls, test.calls)
			}
		})
	}
}

func TestExecNeedsPods(t *testing.T) {
	_, err := harness.NewPlan(t.Context(), &helpless{}, load(t, scenario("a", "  - exec: {pod: p, run: [a]}\n")),
		harness.PlanOptions{})
	if err == nil {
		t.Fatal("no problem was found")
	}
	contains(t, err.Error(), "test.yaml:8:5: exec: provider fake does not support it: its clusters cannot run commands "+
		"in pods", "needs: [exec]")
}
