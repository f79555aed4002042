package assertions

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func TestWhatKeepsAnObject(t *testing.T) {
	f := newFixture(t)
	kept := service("x", "web")
	metadata := kept["metadata"].(map[string]any)
	metadata["deletionTimestamp"] = "2024-01-02T03:04:05Z"
	metadata["finalizers"] = []string{"example.com/a", "example.com/b"}
	f.server.Put(services.Resource, kept)
	f.observe()
	result := f.begun(Eventually, scenarios.Assertion{Selection: named("web"), Absent: true}).after(5 * time.Second)
	check(t, result, reports.Failed)
	matchesFile(t, "eventually-finalizers", result.Message)
	matchesFile(t, "evidence", result.Evidence)
}

func TestOnlyTheLastChangesAreListed(t *testing.T) {
	f := newFixture(t)
	f.put("web", "n", 0)
	f.observe()
	r := f.begun(Eventually, scenarios.Assertion{Match: map[string]any{"n": 100}})
	for i := range 13 {
		f.clock.Step(10 * time.Millisecond)
		f.put("web", "n", i)
	}
	result := r.after(5 * time.Second)
	check(t, result, reports.Failed)
	matchesFile(t, "eventually-many-changes", result.Message)
}

func TestGapsAreToldApart(t *testing.T) {
	f := newFixture(t)
	f.put("web", "ready", false)
	f.observe()
	r := f.begun(Eventually, scenarios.Assertion{CEL: "object.ready"})
	for _, relisted := range []bool{false, true} {
		f.clock.Step(500 * time.Millisecond)
		f.away()
		f.server.Put(services.Resource, service("x", "web", "ready", false, "relisted", relisted))
		if relisted {
			f.server.Compact()
		}
		f.clock.Step(300 * time.Millisecond)
		f.back(relisted)
	}
	result := r.after(5 * time.Second)
	check(t, result, reports.Failed)
	matchesFile(t, "eventually-gaps", regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(result.Message, "ADDRESS"))
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"web", "web", 0},
		{"web", "wbe", 1},
		{"web", "we", 1},
		{"web", "webs", 1},
		{"web", "wed", 1},
		{"web", "db", 2},
		{"", "abc", 3},
		{"abc", "", 3},
		{"frontend", "backend", 5},
	} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("from %q to %q it is %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// An interrupted assertion is an error, not a failure: an interrupted expression looks like a false one.
func TestAnInterruptIsNoFailure(t *testing.T) {
	f := newFixture(t)
	f.put("web", "ready", false)
	f.observe()
	w := f.watcher()
	ctx, cancel := context.WithCancel(t.Context())
	check(t, w.failed(ctx, "It was false.", nil), reports.Failed)
	cancel()
	check(t, w.failed(ctx, "It was false.", nil), reports.Error)
}

// Among candidates for which only the expression is false, those with the fewest false conditions come first.
func TestClosestByConditions(t *testing.T) {
	j := newJudge(Input{
		Assertion: scenarios.Assertion{CEL: "object.a && object.b"},
		CEL:       func(string, map[string]any) (bool, error) { return false, nil },
		Why: func(_ string, variables map[string]any) string {
			var lines []string
			for _, field := range []string{"a", "b"} {
				if variables["object"].(map[string]any)[field] != true {
					lines = append(lines, field+" is false")
				}
			}
			return strings.Join(lines, "\n")
		},
	})
	j.begin(history.View{Objects: []*unstructured.Unstructured{
		{Object: service("x", "neither")}, {Object: service("x", "nearly", "a", true)}, {Object: service("x", "none")},
	}})
	if got := names((&explainer{judge: j}).closest()); got != "nearly, neither, none" {
		t.Errorf("got %s", got)
	}
}
