package assertions

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// problemsIn are the messages of the problems of a failure, each in one line.
func problemsIn(t *testing.T, result Result) []string {
	t.Helper()
	var all []string
	for _, problem := range result.Problems {
		if problem.Status != reports.Failed {
			t.Errorf("the problem %q is %s", problem.Message, problem.Status)
		}
		all = append(all, strings.Join(strings.Fields(problem.Message), " "))
	}
	return all
}

// Each object that must match, and does not, is a problem of its own. Where only some must match, there is one problem.
func TestProblemsOfObjects(t *testing.T) {
	const late = "eventually: It did not become true within 5s. "
	each := []string{late + "db: port: wanted 81, not there", late + "web: port: wanted 81, is 80"}
	for name, test := range map[string]struct {
		count *scenarios.Count
		cel   string
		want  []string
	}{
		"all":               {&scenarios.Count{All: true}, "", each},
		"all of two":        {&scenarios.Count{Min: ptr.To(2)}, "", each},
		"three":             {&scenarios.Count{Min: ptr.To(3), Max: ptr.To(3)}, "", append([]string{late + "there must be 1 more"}, each...)},
		"one of two":        {&scenarios.Count{Min: ptr.To(1)}, "", nil},
		"any":               {nil, "", nil},
		"about all objects": {&scenarios.Count{All: true}, "objects.ready", nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.put("web", "port", int64(80), "ready", false)
			f.put("db", "ready", false)
			f.observe()
			assertion := scenarios.Assertion{Count: test.count, Match: map[string]any{"port": int64(81)}}
			if test.cel != "" {
				assertion.Match, assertion.CEL = nil, test.cel
			}
			result := f.begun(Eventually, assertion).after(5 * time.Second)
			check(t, result, reports.Failed)
			if got := problemsIn(t, result); !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// Each place of each object that did not stay unchanged is a problem of its own.
func TestProblemsOfUnchanged(t *testing.T) {
	f := newFixture(t)
	f.put("db", "port", int64(1))
	f.put("web", "port", int64(1), "name", "a")
	f.observe()
	window := f.window(func() {
		f.delete("db")
		f.put("web", "port", int64(2), "name", "a")
		f.put("web", "port", int64(3), "name", "b")
		f.delete("web")
	})
	result := Unchanged(t.Context(), Input{
		Assertion: scenarios.Assertion{Selection: scenarios.Selection{ObjectReference: scenarios.ObjectReference{Kind: "Service"}}},
		Stream:    f.stream, Scope: history.Scope{Namespace: "x"}, Clock: f.clock, Window: window,
	}, []string{"port", "name"})
	check(t, result, reports.Failed)
	want := []string{
		`did not stay unchanged: db at +1s during "upgrade": was deleted`,
		`did not stay unchanged: web at +1s during "upgrade": changed: port: 1 -> 2`,
		`did not stay unchanged: web at +1s during "upgrade": changed: name: "a" -> "b"`,
		`did not stay unchanged: web at +1s during "upgrade": was deleted`,
	}
	if got := problemsIn(t, result); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
