package assertions

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// sequenceOf is a sequence of Services in namespace x, and of Nodes.
func (f *fixture) sequenceOf(window Window, items ...scenarios.SequenceItem) SequenceInput {
	return SequenceInput{
		Sequence: scenarios.Sequence{Events: items}, Recorder: f.recorder, CEL: evaluateEvent, Window: window, Clock: f.clock,
		Watch: func(e scenarios.Event) (*history.Stream, history.Scope) {
			if e.Kind == "Node" {
				return f.recorder.Stream(others), history.Scope{Name: e.Name}
			}
			return f.stream, history.Scope{Namespace: "x", Name: e.Name}
		},
	}
}

// evaluateEvent is evaluate, and also supports "before.F" for the field F of the object before the change.
func evaluateEvent(expression string, variables map[string]any) (bool, error) {
	if field, ok := strings.CutPrefix(expression, "before."); ok {
		before, _ := variables["before"].(map[string]any)
		value, _ := before[field].(bool)
		return value, nil
	}
	if strings.HasPrefix(expression, "before ") {
		return false, errors.New("no such overload")
	}
	return evaluate(expression, variables)
}

func one(kind, name, change string, conditions ...string) scenarios.SequenceItem {
	e := scenarios.Event{Kind: kind, Name: name, Type: change}
	for i, condition := range conditions {
		if i == 0 {
			e.CEL = condition
		} else {
			e.Before = condition
		}
	}
	return scenarios.SequenceItem{Event: e}
}

func any2(items ...scenarios.SequenceItem) scenarios.SequenceItem {
	var group scenarios.SequenceItem
	for _, item := range items {
		group.AnyOrder = append(group.AnyOrder, item.Event)
	}
	return group
}

func TestSequence(t *testing.T) {
	for _, tt := range []struct {
		name   string
		events []scenarios.SequenceItem
		during func(*fixture)
		want   reports.Status
	}{
		{"sequence", []scenarios.SequenceItem{
			one("Service", "a", "added"), one("Service", "b", "added"),
			one("Service", "a", "deleted"),
		}, func(f *fixture) {
			f.put("a")
			f.put("a", "n", 1)
			f.put("other")
			f.put("b")
			f.delete("a")
		}, reports.Passed},
		{"sequence-early", []scenarios.SequenceItem{
			one("Service", "a", "added"), one("Service", "", "deleted"),
			one("Service", "b", "added"),
		}, func(f *fixture) {
			f.put("a")
			f.put("b")
			f.delete("a")
		}, reports.Failed},
		{"sequence-missing", []scenarios.SequenceItem{one("Service", "a", "added"), one("Service", "a", "modified",
			"object.ready")}, func(f *fixture) {
			f.put("a")
			f.put("a", "ready", false)
			f.put("a", "n", 1)
			f.delete("a")
		}, reports.Failed},
		{"sequence-nothing", []scenarios.SequenceItem{one("Service", "a", "added")}, func(*fixture) {}, reports.Failed},
		{
			"sequence-present",
			[]scenarios.SequenceItem{one("Service", "web", "added")},
			func(f *fixture) { f.put("web", "n", 1) }, reports.Failed,
		},
		{"sequence-again", []scenarios.SequenceItem{
			one("Service", "a", "", "object.ready"),
			one("Service", "a", "", "object.down"), one("Service", "a", "", "object.ready"),
		}, func(f *fixture) {
			f.put("a", "ready", true)
			f.put("a", "ready", true, "n", 1)
			f.put("a", "down", true)
			f.put("a", "ready", true)
		}, reports.Passed},
		{"sequence-before", []scenarios.SequenceItem{
			one("Service", "a", "modified", "object.ready", "object.down"),
			one("Service", "a", "deleted", "before.ready"),
		}, func(f *fixture) {
			f.put("a", "ready", true)
			f.put("a", "ready", true, "n", 1)
			f.put("a", "down", true)
			f.put("a", "ready", true)
			f.delete("a")
		}, reports.Passed},
		{"sequence-any-order", []scenarios.SequenceItem{any2(one("Service", "", "added"), one("Service", "a", "added"),
			one("Service", "b", "added")), one("Service", "a", "deleted")}, func(f *fixture) {
			f.put("a")
			f.put("b")
			f.put("c")
			f.delete("a")
		}, reports.Passed},
		{
			"sequence-any-order-missing",
			[]scenarios.SequenceItem{
				any2(one("Service", "a", "added"), one("Service", "b", "added")),
				one("Service", "a", "deleted"),
			},
			func(f *fixture) {
				f.put("b")
				f.put("b", "n", 1)
			}, reports.Failed,
		},
		{"sequence-two-kinds", []scenarios.SequenceItem{
			one("Node", "n", "added"), one("Service", "a", "added"),
			one("Node", "n", "modified"),
		}, func(f *fixture) {
			f.server.Put(others.Resource, service("", "n"))
			f.server.Put(services.Resource, service("x", "a"))
			f.server.Put(others.Resource, service("", "n", "m", 1))
		}, reports.Passed},
		{
			"sequence-two-kinds-early",
			[]scenarios.SequenceItem{one("Node", "n", "added"), one("Service", "a", "added")},
			func(f *fixture) {
				f.server.Put(services.Resource, service("x", "a"))
				f.server.Put(others.Resource, service("", "n"))
			}, reports.Failed,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.put("web", "ready", true)
			f.observe()
			nodes := f.recorder.Stream(others)
			golden.Must(t, nodes.CatchUp(f.bounded(), history.Scope{}))
			window := f.window(func() {
				tt.during(f)
				golden.Must(t, nodes.CatchUp(f.bounded(), history.Scope{}))
			})
			f.put("late")
			result := InOrder(t.Context(), f.sequenceOf(*window, tt.events...))
			check(t, result, tt.want)
			matchesFile(t, tt.name, result.Message)
		})
	}
}

// Events that a stream reports late still count in the order in which they happened.
func TestSequenceOfLateStreams(t *testing.T) {
	f := newFixture(t).observe()
	nodes := f.recorder.Stream(others)
	golden.Must(t, nodes.CatchUp(f.bounded(), history.Scope{}))
	f.server.AwaitWatches(2)
	begin := f.moment()
	f.away()
	f.server.Put(others.Resource, service("", "n"))
	f.server.Put(services.Resource, service("x", "a"))
	// The streams reconnect one after the other, in any order.
	f.back(false)
	golden.Must(t, nodes.CatchUp(f.bounded(), history.Scope{}))
	window := Window{First: "a", Last: "b", Begin: begin, End: f.moment()}
	check(t, InOrder(t.Context(), f.sequenceOf(window, one("Node", "n", "added"), one("Service", "a", "added"))),
		reports.Passed)
	check(t, InOrder(t.Context(), f.sequenceOf(window, one("Service", "a", "added"), one("Node", "n", "added"))),
		reports.Failed)
}

func TestSequenceOverAGap(t *testing.T) {
	f := newFixture(t)
	f.put("web")
	f.observe()
	window := f.window(func() {
		f.away()
		f.server.Put(services.Resource, service("x", "a"))
		f.server.Put(services.Resource, service("x", "b"))
		f.server.Delete(services.Resource, "x", "web")
		f.server.Compact()
		f.clock.Step(time.Second)
		f.back(true)
	})
	for name, tt := range map[string]struct {
		events []scenarios.SequenceItem
		want   reports.Status
		says   string
	}{
		"found in order": {
			[]scenarios.SequenceItem{one("Service", "a", ""), one("Service", "b", "")},
			reports.Error,
			"Not judged: changes may have been missed for 1s",
		},
		"missing": {
			[]scenarios.SequenceItem{one("Service", "a", ""), one("Service", "a", "modified")},
			reports.Error,
			"may have been missed",
		},
		"early": {
			[]scenarios.SequenceItem{one("Service", "b", ""), one("Service", "a", "")},
			reports.Error,
			"Not judged: changes may have been missed for 1s",
		},
		"deletion": {[]scenarios.SequenceItem{one("Service", "web", "deleted")}, reports.Error, "Not judged"},
	} {
		t.Run(name, func(t *testing.T) {
			result := InOrder(t.Context(), f.sequenceOf(*window, tt.events...))
			check(t, result, tt.want)
			if !strings.Contains(result.Message, tt.says) {
				t.Errorf("%q lacks %q", result.Message, tt.says)
			}
		})
	}
}

// A change whose state was dropped from memory may have been an event, unless its name or its type excludes that.
func TestSequenceOfDroppedStates(t *testing.T) {
	for name, tt := range map[string]struct {
		events []scenarios.SequenceItem
		want   reports.Status
	}{
		"the event itself": {[]scenarios.SequenceItem{one("Service", "a", "modified", "object.ready")}, reports.Error},
		"an event too early": {[]scenarios.SequenceItem{
			one("Service", "b", "added"), one("Service", "a", "", "object.ready"),
		}, reports.Error},
		"what was before": {[]scenarios.SequenceItem{one("Service", "a", "deleted", "before.ready")}, reports.Error},
		"it may be another": {[]scenarios.SequenceItem{
			one("Service", "", "added", "object.ready"), one("Service", "b", "added"),
		}, reports.Error},
		"another name": {
			[]scenarios.SequenceItem{one("Service", "b", "added"), one("Service", "c", "added")}, reports.Passed,
		},
		"another type": {
			[]scenarios.SequenceItem{one("Service", "a", "deleted"), one("Service", "c", "added")}, reports.Passed,
		},
		"another order": {
			[]scenarios.SequenceItem{one("Service", "c", "added"), one("Service", "b", "added")}, reports.Failed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, history.WithMaxBytes(0)).observe()
			window := f.window(func() {
				f.put("a")
				f.put("a", "ready", true)
				f.put("a", "ready", false)
				f.put("b")
				f.delete("a")
				f.put("c")
			})
			result := InOrder(t.Context(), f.sequenceOf(*window, tt.events...))
			check(t, result, tt.want)
			said := strings.Contains(result.Message, "states were dropped from memory before they could be judged")
			if said != (tt.want == reports.Error) {
				t.Errorf("it says:\n%s", result.Message)
			}
		})
	}
}

// A field that is missing decides. What an expression means that can't be evaluated is unknown.
func TestSequenceWithAnExpressionThatFails(t *testing.T) {
	for name, tt := range map[string]struct {
		ready  any
		events []scenarios.SequenceItem
		want   reports.Status
	}{
		"it occurs": {"yes", []scenarios.SequenceItem{
			one("Service", "b", "added"), one("Service", "a", "", "object.ready"),
		}, reports.Error},
		"it may be too early": {"yes", []scenarios.SequenceItem{
			one("Service", "b", "added"), one("Service", "a", "modified", "object.ready", "object.up"),
		}, reports.Error},
		"a missing field": {nil, []scenarios.SequenceItem{
			one("Service", "b", "added"), one("Service", "a", "", "object.ready"),
		}, reports.Passed},
		"nothing was before": {nil, []scenarios.SequenceItem{
			one("Service", "b", "added", "before == 'text'"),
		}, reports.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t).observe()
			window := f.window(func() {
				fields := []any{"up", true}
				if tt.ready != nil {
					fields = append(fields, "ready", tt.ready)
				}
				f.put("a", "up", true)
				f.put("a", fields...)
				f.put("b")
				f.put("a", "up", true, "ready", true)
			})
			result := InOrder(t.Context(), f.sequenceOf(*window, tt.events...))
			check(t, result, tt.want)
			if said := strings.Contains(result.Message, "could not be evaluated for a: no such overload"); said !=
				(tt.want == reports.Error) {
				t.Errorf("it says:\n%s", result.Message)
			}
		})
	}
}

// What another API server shows differently has the resourceVersion of a change long before.
func TestSequenceOfWhatLooksDifferent(t *testing.T) {
	f := newFixture(t)
	f.put("a")
	f.observe()
	nodes := f.recorder.Stream(others)
	golden.Must(t, nodes.CatchUp(f.bounded(), history.Scope{}))
	f.server.AwaitWatches(2)
	begin := f.moment()
	f.server.Put(others.Resource, service("", "n"))
	golden.Must(t, nodes.CatchUp(f.bounded(), history.Scope{}))
	f.server.Render(services.Resource, "x", "a", func(o *unstructured.Unstructured) { o.Object["ready"] = true })
	f.recorder.Reread(f.bounded())
	window := Window{First: "a", Last: "b", Begin: begin, End: f.moment()}
	looks := one("Service", "a", "modified", "object.ready")
	check(t, InOrder(t.Context(), f.sequenceOf(window, one("Node", "n", "added"), looks)), reports.Passed)
	check(t, InOrder(t.Context(), f.sequenceOf(window, looks, one("Node", "n", "added"))), reports.Failed)
}

func TestSequenceThatIsWaitedFor(t *testing.T) {
	live := func(f *fixture, items ...scenarios.SequenceItem) chan Result {
		in := f.sequenceOf(Window{Begin: f.moment()}, items...)
		in.Live, in.Within, in.Started = true, 5*time.Second, f.clock.Now()
		result := make(chan Result, 1)
		go func() { result <- InOrder(t.Context(), in) }()
		return result
	}
	t.Run("it comes", func(t *testing.T) {
		f := newFixture(t).observe()
		result := live(f, one("Service", "a", "added"), one("Service", "b", "added"))
		f.put("a")
		f.put("b")
		check(t, <-result, reports.Passed)
	})
	t.Run("it comes in another order", func(t *testing.T) {
		f := newFixture(t).observe()
		result := live(f, one("Service", "a", "added"), one("Service", "b", "added"))
		f.put("b")
		check(t, <-result, reports.Failed)
	})
	t.Run("it does not come", func(t *testing.T) {
		f := newFixture(t).observe()
		result := live(f, one("Service", "a", "added"), one("Service", "b", "added"))
		f.put("a")
		for !f.clock.HasWaiters() {
			runtime.Gosched()
		}
		f.clock.Step(5 * time.Second)
		last := <-result
		check(t, last, reports.Failed)
		if !strings.Contains(last.Message, "within 5s. Event 2 did not occur.") {
			t.Error(last.Message)
		}
	})
	t.Run("nobody can look", func(t *testing.T) {
		f := newFixture(t).observe()
		result := live(f, one("Service", "a", "added"))
		f.away()
		check(t, (&running{f: f, result: result}).atLast(), reports.Error)
	})
	t.Run("interrupted", func(t *testing.T) {
		f := newFixture(t).observe()
		in := f.sequenceOf(Window{Begin: f.moment()}, one("Service", "a", "added"))
		in.Live, in.Within, in.Started = true, time.Hour, f.clock.Now()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		check(t, InOrder(ctx, in), reports.Error)
	})
}
