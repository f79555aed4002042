package assertions

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// moment returns the current moment, after the stream has reported everything.
func (f *fixture) moment() Moment {
	f.t.Helper()
	f.settle()
	return Moment{Seq: f.recorder.Seq(), At: f.clock.Now()}
}

// window runs a function and returns its time range, which begins a second earlier and ends a second later.
func (f *fixture) window(during func()) *Window {
	f.t.Helper()
	w := &Window{First: "upgrade", Last: "roll back", Begin: f.moment()}
	f.clock.Step(time.Second)
	w.Steps = []Step{{"upgrade", w.Begin.Seq}}
	during()
	f.settle()
	f.clock.Step(time.Second)
	w.End = f.moment()
	return w
}

// past decides an assertion about a window that is over, after many later changes.
func (f *fixture) past(decide verb, assertion scenarios.Assertion, window *Window) Result {
	f.t.Helper()
	f.clock.Step(time.Hour)
	f.put("web", "ready", false, "broken", true)
	f.delete("web")
	assertion.Kind = "Service"
	return decide(f.t.Context(), Input{
		Assertion: assertion, Stream: f.stream, Scope: history.Scope{Namespace: "x", Name: assertion.Name}, CEL: evaluate,
		Clock: f.clock, Window: window,
	})
}

func TestThroughoutAWindow(t *testing.T) {
	all := scenarios.Assertion{CEL: "object.ready", Count: &scenarios.Count{All: true}}
	exists := scenarios.Assertion{Selection: named("web")}
	between := scenarios.Assertion{Count: &scenarios.Count{Min: ptr.To(1), Max: ptr.To(2)}}
	for _, tt := range []struct {
		name      string
		decide    verb
		assertion scenarios.Assertion
		during    func(*fixture)
		want      reports.Status
	}{
		{"window-always", Always, all, func(f *fixture) { f.put("web", "ready", true, "n", 1) }, reports.Passed},
		{"window-always-violated", Always, all, func(f *fixture) {
			f.put("web", "ready", false)
			f.clock.Step(time.Second)
			f.put("web", "ready", true)
		}, reports.Failed},
		{"window-always-gone", Always, exists, func(f *fixture) {
			f.delete("web")
			f.put("web", "ready", true)
		}, reports.Failed},
		{"window-count", Always, between, func(f *fixture) { f.put("b"); f.delete("b") }, reports.Passed},
		{"window-count-violated", Always, between, func(f *fixture) {
			f.put("b")
			f.put("c")
			f.delete("c")
		}, reports.Failed},
		{
			"window-never", Never,
			scenarios.Assertion{CEL: "object.broken"},
			func(f *fixture) { f.put("b", "broken", false) },
			reports.Passed,
		},
		{"window-never-violated", Never, scenarios.Assertion{CEL: "object.broken"}, func(f *fixture) {
			f.put("b", "broken", true)
			f.delete("b")
		}, reports.Failed},
		{"window-relisted", Always, exists, func(f *fixture) {
			f.away()
			f.server.Put(others.Resource, service("", "other"))
			f.server.Put(others.Resource, service("", "other"))
			f.server.Compact()
			f.clock.Step(2100 * time.Millisecond)
			f.back(true)
		}, reports.Error},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.put("web", "ready", true)
			f.observe()
			f.put("web", "ready", false)
			f.put("web", "ready", true)
			result := f.past(tt.decide, tt.assertion, f.window(func() { tt.during(f) }))
			check(t, result, tt.want)
			if tt.want == reports.Failed && result.EventAt.IsZero() {
				t.Error("the result has no event")
			}
			text := result.Message
			if i := strings.Index(text, " (Get \""); i >= 0 {
				text = text[:i] // the address differs in each run
			}
			if i := strings.Index(text, "\nNot connected"); i >= 0 {
				text = text[:i]
			}
			matchesFile(t, tt.name, text)
		})
	}
}

func TestAWindowThatWasNotSeen(t *testing.T) {
	gone := errors.New("connection refused")
	for name, spoil := range map[string]func(*Window){
		"begin": func(w *Window) { w.Begin.Err = gone },
		"end":   func(w *Window) { w.End.Err = gone },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.put("web", "ready", true)
			f.observe()
			window := f.window(func() {})
			spoil(window)
			result := f.past(Always, scenarios.Assertion{Selection: named("web")}, window)
			check(t, result, reports.Error)
			if !strings.Contains(result.Message, "were not seen: connection refused") {
				t.Error(result.Message)
			}
		})
	}
	t.Run("what was seen before the end is enough for a failure", func(t *testing.T) {
		f := newFixture(t)
		f.put("web", "ready", true)
		f.observe()
		window := f.window(func() { f.delete("web") })
		window.End.Err = gone
		check(t, f.past(Always, scenarios.Assertion{Selection: named("web")}, window), reports.Failed)
	})
	t.Run("an object of which no state is kept is not missing", func(t *testing.T) {
		f := newFixture(t, history.WithMaxBytes(0))
		f.put("web", "ready", true)
		f.observe()
		window := f.window(func() {
			f.put("other", "ready", true)
			f.put("other", "ready", true, "n", 1)
			f.delete("web")
		})
		result := f.past(Always, scenarios.Assertion{}, window)
		check(t, result, reports.Error)
	})
	t.Run("nor can it undo a match that must not be", func(t *testing.T) {
		f := newFixture(t, history.WithMaxBytes(0))
		f.observe()
		window := f.window(func() {
			f.put("other", "ready", true)
			f.put("other", "ready", true, "n", 1)
			f.put("kept", "ready", false)
		})
		none := scenarios.Assertion{Match: map[string]any{"ready": false}, Absent: true}
		check(t, f.past(Always, none, window), reports.Failed)
	})
	t.Run("dropped", func(t *testing.T) {
		f := newFixture(t, history.WithMaxBytes(0))
		f.put("web", "ready", true)
		f.observe()
		window := f.window(func() { f.put("web", "ready", true, "n", 1) })
		result := f.past(Always, scenarios.Assertion{Selection: named("web")}, window)
		check(t, result, reports.Error)
		if !strings.Contains(result.Message, "no longer kept in memory") {
			t.Error(result.Message)
		}
	})
}

func TestUnchanged(t *testing.T) {
	spec := func(n int64) []any {
		return []any{"spec", map[string]any{"replicas": n, "ports": []any{map[string]any{"port": int64(80)}}}}
	}
	for _, tt := range []struct {
		name   string
		paths  []string
		during func(*fixture)
		want   reports.Status
	}{
		{"unchanged", []string{"metadata.uid", "spec"}, func(f *fixture) {
			f.put("web", append(spec(1), "status", "new", "labels", map[string]any{"a": "b"})...)
		}, reports.Passed},
		{"unchanged-changed", []string{"metadata.uid", "spec", "spec.ports[*].port"}, func(f *fixture) {
			f.put("web", spec(2)...)
			f.put("web", spec(1)...)
		}, reports.Failed},
		{"unchanged-deleted", []string{"spec"}, func(f *fixture) {
			f.delete("web")
			f.put("web", spec(1)...)
		}, reports.Failed},
		{
			"unchanged-others",
			[]string{"spec"},
			func(f *fixture) { f.put("later", spec(5)...); f.put("later", spec(6)...) },
			reports.Passed,
		},
		{
			"unchanged-appears",
			[]string{"status"},
			func(f *fixture) { f.put("web", append(spec(1), "status", "new")...) },
			reports.Failed,
		},
		{"unchanged-null", []string{"spec"}, func(f *fixture) {
			f.put("web", "spec", map[string]any{
				"replicas": int64(1),
				"ports":    []any{map[string]any{"port": int64(80), "appProtocol": nil}}, "selector": map[string]any{},
			})
			f.put("web", spec(1)...)
		}, reports.Passed},
		{"unchanged-empty", []string{"spec", "spec.ports[*]"}, func(f *fixture) {
			f.put("web", "spec", map[string]any{
				"replicas": int64(1), "ports": []any{},
				"sessionAffinityConfig": map[string]any{},
			})
		}, reports.Failed},
		{"unchanged-nothing", []string{"spec", "stauts.phase"}, func(*fixture) {}, reports.Failed},
		{"unchanged-replaced-unseen", []string{"metadata.uid"}, func(f *fixture) {
			f.away()
			f.server.Delete(services.Resource, "x", "web")
			f.server.Put(services.Resource, service("x", "web", spec(1)...))
			f.server.Compact()
			f.back(true)
		}, reports.Failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.put("web", spec(1)...)
			f.put("db", spec(1)...)
			f.observe()
			window := f.window(func() { tt.during(f) })
			f.delete("web")
			result := Unchanged(t.Context(), Input{
				Assertion: scenarios.Assertion{Selection: scenarios.Selection{ObjectReference: scenarios.ObjectReference{Kind: "Service"}}},
				Stream:    f.stream, Scope: history.Scope{Namespace: "x"}, Clock: f.clock, Window: window,
			}, tt.paths)
			check(t, result, tt.want)
			text, _, _ := strings.Cut(result.Message, "\nNot connected")
			matchesFile(t, tt.name, text)
		})
	}
	t.Run("none", func(t *testing.T) {
		f := newFixture(t).observe()
		result := Unchanged(t.Context(), Input{
			Stream: f.stream, Scope: history.Scope{Name: "web"}, Clock: f.clock,
			Window: f.window(func() {}),
		}, []string{"spec"})
		check(t, result, reports.Failed)
	})
}
