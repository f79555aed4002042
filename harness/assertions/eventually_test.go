package assertions

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func port(n int) map[string]any {
	return map[string]any{"ports": []any{map[string]any{"port": n}}}
}

func named(name string) scenarios.Selection {
	return scenarios.Selection{ObjectReference: scenarios.ObjectReference{Name: name}}
}

func TestEventuallyAtTheFirstLook(t *testing.T) {
	f := newFixture(t)
	f.put("a", "spec", port(80))
	f.put("b", "spec", port(80))
	r := f.now(Eventually, scenarios.Assertion{Match: map[string]any{"spec": port(80)}})
	check(t, r, reports.Passed)
	if r.Object == nil || r.Object.GetName() != "a" {
		t.Errorf("matched %v, want the first by name", r.Object)
	}
	if !r.EventAt.IsZero() {
		t.Errorf("decided by an event at %v, want at the first look", r.EventAt)
	}
	matchesFile(t, "eventually-passed", r.Message)
}

func TestEventuallyByAChange(t *testing.T) {
	for _, tt := range []struct {
		name      string
		assertion scenarios.Assertion
		change    func(*fixture)
	}{
		{"created", scenarios.Assertion{Selection: named("new")}, func(f *fixture) { f.put("new") }},
		{
			"matches",
			scenarios.Assertion{Match: map[string]any{"spec": port(81)}},
			func(f *fixture) { f.put("a", "spec", port(81)) },
		},
		{"cel", scenarios.Assertion{CEL: "object.ready"}, func(f *fixture) { f.put("a", "ready", true) }},
		{"cel of all", scenarios.Assertion{CEL: "objects.ready"}, func(f *fixture) {
			f.put("a", "ready", true)
			f.put("b", "ready", true)
		}},
		{"absent", scenarios.Assertion{Selection: named("a"), Absent: true}, func(f *fixture) { f.delete("a") }},
		{
			"no longer matches",
			scenarios.Assertion{Match: map[string]any{"spec": port(80)}, Absent: true},
			func(f *fixture) { f.put("a") },
		},
		{"leaves the selection", scenarios.Assertion{
			Selection: scenarios.Selection{Selector: map[string]string{"app": "a"}}, Absent: true,
		}, func(f *fixture) { f.put("a") }},
		{
			"count",
			scenarios.Assertion{Count: &scenarios.Count{Min: ptr.To(3), Max: ptr.To(3)}},
			func(f *fixture) { f.put("c") },
		},
		{
			"all",
			scenarios.Assertion{Match: map[string]any{"spec": port(80)}, Count: &scenarios.Count{All: true}},
			func(f *fixture) { f.put("b", "spec", port(80)) },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.put("a", "spec", port(80), "labels", map[string]any{"app": "a"}, "ready", false)
			f.put("b", "ready", false)
			f.observe()
			r := f.begun(Eventually, tt.assertion)
			f.clock.Step(time.Second)
			at := f.clock.Now()
			tt.change(f)
			result := <-r.result
			check(t, result, reports.Passed)
			if !result.EventAt.Equal(at) {
				t.Errorf("decided by an event at %v, want %v", result.EventAt, at)
			}
		})
	}
}

// The time that a step waited for the kind to be served is part of its own.
func TestEventuallyWhenTimeWasSpent(t *testing.T) {
	spend := func(spent time.Duration) verb {
		return func(ctx context.Context, in Input) Result {
			in.Spent = spent
			return Eventually(ctx, in)
		}
	}
	assertion := scenarios.Assertion{CEL: "object.ready", Within: length}
	for _, tt := range []struct {
		name  string
		ready bool
		spent time.Duration
		left  time.Duration
		want  reports.Status
	}{
		{"some is left", false, 3 * time.Second, 2 * time.Second, reports.Failed},
		{"nothing is left", false, 5 * time.Second, 0, reports.Failed},
		{"less than nothing is left", false, 8 * time.Second, 0, reports.Failed},
		{"nothing is left, but it is true", true, 5 * time.Second, 0, reports.Passed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.put("web", "ready", tt.ready)
			f.observe()
			r := f.start(f.bounded(), spend(tt.spent), assertion)
			<-r.looked
			f.clock.Step(tt.left)
			result := <-r.result
			check(t, result, tt.want)
			if tt.want == reports.Failed && !strings.Contains(result.Message, "It did not become true within 5s.") {
				t.Error(result.Message)
			}
		})
	}
}

func TestEventuallyNot(t *testing.T) {
	selected := scenarios.Selection{Selector: map[string]string{"app": "web"}}
	for _, tt := range []struct {
		name      string
		assertion scenarios.Assertion
	}{
		{"differs", scenarios.Assertion{Selection: named("web"), Match: map[string]any{
			"spec": port(81), "gone": nil,
			"status": map[string]any{"ready": true},
		}}},
		{"closest", scenarios.Assertion{Match: map[string]any{"spec": port(8080), "ready": true}}},
		{"cel-false", scenarios.Assertion{Selection: named("db"), CEL: "object.ready"}},
		{"cel-error", scenarios.Assertion{CEL: "object.started", Within: scenarios.Duration(3 * time.Second)}},
		{"misspelt", scenarios.Assertion{
			Selection: named("wbe"), Match: map[string]any{"spec": port(80)},
			CEL: "object.ready",
		}},
		{"elsewhere", scenarios.Assertion{Selection: named("far")}},
		{"unlabelled", scenarios.Assertion{Selection: selected}},
		{"still-there", scenarios.Assertion{Selection: named("web"), Absent: true}},
		{"too-few", scenarios.Assertion{Match: map[string]any{"spec": port(80)}, Count: &scenarios.Count{Min: ptr.To(2)}}},
		{"too-many", scenarios.Assertion{Count: &scenarios.Count{Max: ptr.To(1)}}},
		{"not-all", scenarios.Assertion{Match: map[string]any{"spec": port(80)}, Count: &scenarios.Count{All: true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.put("web", "spec", port(80), "gone", "not yet")
			f.put("db", "ready", false, "labels", map[string]any{"app": "db"})
			f.server.Put(services.Resource, service("y", "far"))
			f.observe()
			f.clock.Step(1500 * time.Millisecond)
			r := f.begun(Eventually, tt.assertion)
			f.clock.Step(100 * time.Millisecond)
			f.put("web", "spec", port(80), "gone", "still not")
			result := r.after(5 * time.Second)
			check(t, result, reports.Failed)
			if result.Object != nil || !result.EventAt.IsZero() {
				t.Errorf("a failure by the time being up has object %v and event %v", result.Object, result.EventAt)
			}
			matchesFile(t, "eventually-"+tt.name, result.Message)
		})
	}
}

func TestEventuallyNeverJudgesTheStateBefore(t *testing.T) {
	f := newFixture(t)
	f.put("web")
	f.observe()
	f.server.Hold()
	f.server.Delete(services.Resource, "x", "web")
	lists := f.server.Requests("list", "")
	go func() {
		f.server.AwaitRequests("list", lists+1)
		f.server.Release()
	}()
	result := f.begun(Eventually, scenarios.Assertion{Selection: named("web")}).after(5 * time.Second)
	check(t, result, reports.Failed)
	matchesFile(t, "eventually-deleted-before", result.Message)
}

func TestEventuallySeesAPassingState(t *testing.T) {
	f := newFixture(t)
	f.observe()
	r := f.begun(Eventually, scenarios.Assertion{CEL: "object.ready"})
	f.server.Hold()
	f.server.Put(services.Resource, service("x", "web", "ready", true))
	f.server.Put(services.Resource, service("x", "web", "ready", false))
	f.server.Release()
	check(t, <-r.result, reports.Passed)
}

func TestEventuallyOutlivesTheServer(t *testing.T) {
	f := newFixture(t)
	f.put("web", "ready", false)
	f.observe()
	r := f.begun(Eventually, scenarios.Assertion{CEL: "object.ready"})
	f.away()
	f.server.Put(services.Resource, service("x", "web", "ready", true))
	f.server.Compact()
	f.server.Up()
	check(t, <-r.result, reports.Passed)
}

func TestEventuallyCouldNotLook(t *testing.T) {
	f := newFixture(t)
	f.stream = f.recorder.Stream(services)
	f.away()
	result := f.start(t.Context(), Eventually, scenarios.Assertion{Selection: named("web"), Absent: true}).atLast()
	check(t, result, reports.Error)
	for _, want := range []string{
		"eventually: no Service web in namespace x exists. Could not check: ",
		"connection refused",
	} {
		if !strings.Contains(result.Message, want) {
			t.Errorf("%q lacks %q", result.Message, want)
		}
	}
}

func TestEventuallyTimeUpWhileUnknown(t *testing.T) {
	f := newFixture(t)
	f.put("web", "ready", false)
	f.observe()
	r := f.begun(Eventually, scenarios.Assertion{CEL: "object.ready"})
	f.away()
	result := r.atLast()
	check(t, result, reports.Error)
	for _, want := range []string{
		"Could not check: ", "connection refused", "First check at +0s",
		"Not connected from +0s on", "cel: object.ready\n    is false",
	} {
		if !strings.Contains(result.Message, want) {
			t.Errorf("%q lacks %q", result.Message, want)
		}
	}
}

func TestEventuallyInterrupted(t *testing.T) {
	f := newFixture(t)
	f.observe()
	ctx, cancel := context.WithCancelCause(t.Context())
	r := f.start(ctx, Eventually, scenarios.Assertion{Selection: named("web")})
	<-r.looked
	cancel(errors.New("somebody pressed Ctrl-C"))
	result := <-r.result
	check(t, result, reports.Error)
	matchesFile(t, "eventually-interrupted", result.Message)
}

func TestStreamIsOfAllNamespaces(t *testing.T) {
	f := newFixture(t)
	f.server.Put(services.Resource, service("y", "web"))
	f.observe()
	in := Input{
		Assertion: scenarios.Assertion{Selection: named("web")}, Stream: f.stream,
		Scope: history.Scope{Name: "web"}, Clock: f.clock,
	}
	check(t, Eventually(t.Context(), in), reports.Passed)
}
