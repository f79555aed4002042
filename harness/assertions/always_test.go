package assertions

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

const length = scenarios.Duration(5 * time.Second)

func ready() scenarios.Assertion {
	return scenarios.Assertion{CEL: "object.ready", Count: &scenarios.Count{All: true}, For: length}
}

func TestThroughout(t *testing.T) {
	broken := ready()
	broken.Count, broken.CEL = nil, "object.broken"
	for _, tt := range []struct {
		name      string
		decide    verb
		assertion scenarios.Assertion
		// during runs one second into the window.
		during func(*fixture)
		want   reports.Status
	}{
		{"always", Always, ready(), func(f *fixture) { f.put("web", "ready", true, "n", 1) }, reports.Passed},
		{
			"always-other-object", Always, ready(),
			func(f *fixture) { f.server.Put(services.Resource, service("y", "web", "ready", false)) }, reports.Passed,
		},
		{"always-violated", Always, ready(), func(f *fixture) {
			f.put("web", "ready", false)
			f.put("web", "ready", true)
		}, reports.Failed},
		{"always-violated-by-deletion", Always, ready(), func(f *fixture) { f.delete("web") }, reports.Failed},
		{"never", Never, broken, func(f *fixture) { f.put("web", "ready", true, "broken", false) }, reports.Passed},
		{"never-violated", Never, broken, func(f *fixture) {
			f.put("web", "ready", true, "broken", true)
			f.put("web", "ready", true)
		}, reports.Failed},
		{
			"always-count", Always,
			scenarios.Assertion{Count: &scenarios.Count{Min: ptr.To(1), Max: ptr.To(2)}, For: length},
			func(f *fixture) {
				f.put("b")
				f.put("c")
				f.delete("c")
			}, reports.Failed,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.put("web", "ready", true)
			f.observe()
			r := f.begun(tt.decide, tt.assertion)
			f.clock.Step(time.Second)
			at := f.clock.Now()
			tt.during(f)
			result := r.after(5 * time.Second)
			check(t, result, tt.want)
			if tt.want == reports.Failed && !result.EventAt.Equal(at) {
				t.Errorf("decided by an event at %v, want %v", result.EventAt, at)
			}
			matchesFile(t, tt.name, result.Message)
		})
	}
}

// A field that is absent, where 0 is wanted, proves no absence.
func TestDoubtfulMatch(t *testing.T) {
	zero := map[string]any{"n": 0}
	for name, test := range map[string]struct {
		decide    verb
		assertion scenarios.Assertion
		fields    []any
		want      reports.Status
	}{
		"never, absent":  {Never, scenarios.Assertion{Match: zero, For: length}, nil, reports.Error},
		"never, another": {Never, scenarios.Assertion{Match: zero, For: length}, []any{"n", 1}, reports.Passed},
		"never, zero":    {Never, scenarios.Assertion{Match: zero, For: length}, []any{"n", 0}, reports.Failed},
		"at most, absent": {
			Always,
			scenarios.Assertion{Match: zero, Count: &scenarios.Count{Max: ptr.To(0)}, For: length},
			nil,
			reports.Error,
		},
		"always, absent": {Always, scenarios.Assertion{Match: zero, For: length}, nil, reports.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.put("web", test.fields...)
			f.observe()
			result := f.begun(test.decide, test.assertion).after(5 * time.Second)
			check(t, result, test.want)
			if test.want == reports.Error && !strings.Contains(result.Message, "n is absent") {
				t.Errorf("the message does not say what is absent:\n%s", result.Message)
			}
		})
	}
}

// An expression that cannot be evaluated proves no absence, unless the reason is a missing field.
func TestUnclear(t *testing.T) {
	absent := scenarios.Assertion{CEL: "object.ready", Absent: true, Within: length, For: length}
	all := ready()
	all.Within = length
	most := scenarios.Assertion{CEL: "object.ready", Count: &scenarios.Count{Max: ptr.To(1)}, Within: length, For: length}
	some := scenarios.Assertion{CEL: "object.ready", Within: length, For: length}
	for _, tt := range []struct {
		name      string
		decide    verb
		assertion scenarios.Assertion
		ready     any // of object b; it is true for object a
		want      reports.Status
	}{
		{"never", Never, ready(), "yes", reports.Error},
		{"absent", Eventually, absent, "yes", reports.Failed}, // object a is there in any case
		{"all", Eventually, all, "yes", reports.Error},
		{"at most", Eventually, most, "yes", reports.Error},
		{"at most, a field that is not there", Eventually, most, nil, reports.Passed},
		{"some", Eventually, some, "yes", reports.Passed},
		{"always", Always, all, "yes", reports.Error},
		{"always some", Always, some, "yes", reports.Passed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.put("a", "ready", true)
			if tt.ready == nil {
				f.put("b")
			} else {
				f.put("b", "ready", tt.ready)
			}
			f.observe()
			result := f.begun(tt.decide, tt.assertion).after(5 * time.Second)
			check(t, result, tt.want)
			if said := strings.Contains(result.Message,
				"the expression could not be evaluated for b: no such overload"); said != (tt.want == reports.Error) {
				t.Errorf("it says:\n%s", result.Message)
			}
		})
	}
	t.Run("in a window", func(t *testing.T) {
		f := newFixture(t)
		f.put("a", "ready", false)
		f.observe()
		window := f.window(func() {
			f.put("a", "ready", "yes")
			f.put("a", "ready", false)
		})
		check(t, f.past(Never, scenarios.Assertion{CEL: "object.ready"}, window), reports.Error)
	})
}

// An object that lacks a field hides nothing: an expression about all objects proves nothing then.
func TestUnclearForAllObjects(t *testing.T) {
	expecting := func(cel string, absent bool, count *scenarios.Count) scenarios.Assertion {
		return scenarios.Assertion{CEL: cel, Absent: absent, Count: count, Within: length, For: length}
	}
	most := &scenarios.Count{Max: ptr.To(1)}
	for _, tt := range []struct {
		name      string
		decide    verb
		assertion scenarios.Assertion
		later     bool // object b gets the field
		want      reports.Status
	}{
		{"never", Never, expecting("objects.ready", false, nil), false, reports.Error},
		{"always", Always, expecting("objects.ready", false, nil), false, reports.Error},
		{"absent", Eventually, expecting("objects.ready", true, nil), false, reports.Error},
		{"at most", Eventually, expecting("objects.ready", false, most), false, reports.Error},
		{"some", Eventually, expecting("objects.ready", false, nil), false, reports.Failed},
		{"some, later", Eventually, expecting("objects.ready", false, nil), true, reports.Passed},
		{"absent, later", Eventually, expecting("objects.ready", true, nil), true, reports.Failed},
		{"never, of each", Never, expecting("object.broken", false, nil), false, reports.Passed},
		{"absent, of each", Eventually, expecting("object.broken", true, nil), false, reports.Passed},
		{"never, and it is there", Never, expecting("objects.old", false, nil), false, reports.Passed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.put("a", "ready", true, "old", false)
			f.put("b", "old", false)
			f.observe()
			r := f.begun(tt.decide, tt.assertion)
			if tt.later {
				f.put("b", "old", false, "ready", true)
			}
			result := r.after(5 * time.Second)
			check(t, result, tt.want)
			advised := strings.Contains(result.Message, "could not be evaluated for a, b: no such key: ready") &&
				strings.Contains(result.Message, "as in has(o.spec.nodeName)")
			if advised != (tt.want == reports.Error) {
				t.Errorf("it says:\n%s", result.Message)
			}
		})
	}
	t.Run("in a window", func(t *testing.T) {
		f := newFixture(t)
		f.put("a", "ready", true)
		f.observe()
		window := f.window(func() {
			f.put("b")
			f.put("b", "ready", false)
		})
		check(t, f.past(Never, scenarios.Assertion{CEL: "objects.broken"}, window), reports.Error)
		check(t, f.past(Always, scenarios.Assertion{CEL: "objects.ready"}, window), reports.Error)
	})
}

func TestThroughoutFromTheFirstLook(t *testing.T) {
	f := newFixture(t)
	f.put("web", "ready", false)
	result := f.now(Always, ready())
	check(t, result, reports.Failed)
	matchesFile(t, "always-not-at-first", result.Message)
	exists := scenarios.Assertion{Selection: named("web"), For: length}
	result = f.now(Never, exists)
	check(t, result, reports.Failed)
	matchesFile(t, "never-at-first", result.Message)
}

func TestAlwaysOverAGap(t *testing.T) {
	for _, tt := range []struct {
		name string
		// away runs while the server is down.
		away     func(*fixture)
		relisted bool
		want     reports.Status
		note     bool
	}{
		{
			"bridged", func(f *fixture) { f.server.Put(services.Resource, service("x", "web", "ready", true, "n", 1)) }, false,
			reports.Passed, false,
		},
		{"bridged and violated", func(f *fixture) {
			f.server.Put(services.Resource, service("x", "web", "ready", false))
			f.server.Put(services.Resource, service("x", "web", "ready", true))
		}, false, reports.Failed, false},
		{"relisted", func(f *fixture) {
			f.server.Put(others.Resource, service("", "other"))
			f.server.Put(others.Resource, service("", "other"))
			f.server.Compact()
		}, true, reports.Error, true},
		{"relisted, one object in another's place", func(f *fixture) {
			f.server.Put(services.Resource, service("x", "next", "ready", true))
			f.server.Delete(services.Resource, "x", "web")
			f.server.Compact()
		}, true, reports.Error, true},
		{"relisted, replaced", func(f *fixture) {
			f.server.Delete(services.Resource, "x", "web")
			f.server.Put(services.Resource, service("x", "web", "ready", true))
			f.server.Compact()
		}, true, reports.Error, true},
		{"relisted and violated", func(f *fixture) {
			f.server.Put(services.Resource, service("x", "web", "ready", false))
			f.server.Compact()
		}, true, reports.Failed, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.put("web", "ready", true)
			f.observe()
			r := f.begun(Always, ready())
			f.clock.Step(time.Second)
			f.away()
			tt.away(f)
			f.clock.Step(2100 * time.Millisecond)
			f.back(tt.relisted)
			result := r.after(5 * time.Second)
			check(t, result, tt.want)
			if got := strings.Contains(result.Message, "Not judged: changes may have been missed for 2.1s"); got != tt.note {
				t.Errorf("says what was missed: %v, want %v:\n%s", got, tt.note, result.Message)
			}
		})
	}
}

func TestAlwaysCouldNotLook(t *testing.T) {
	t.Run("at the start", func(t *testing.T) {
		f := newFixture(t)
		f.stream = f.recorder.Stream(services)
		f.server.Reject(func(apitest.Request) *metav1.Status {
			return apitest.Failure(http.StatusForbidden, metav1.StatusReasonForbidden)
		})
		result := f.start(t.Context(), Always, ready()).atLast()
		check(t, result, reports.Error)
		if want := "Could not check: "; !strings.Contains(result.Message, want) {
			t.Errorf("%q lacks %q", result.Message, want)
		}
	})
	for name, decide := range map[string]verb{"at the end of always": Always, "at the end of never": Never} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.put("web", "ready", true)
			f.observe()
			assertion := ready()
			if name == "at the end of never" {
				assertion.Count = &scenarios.Count{Min: ptr.To(2)}
			}
			r := f.begun(decide, assertion)
			f.clock.Step(time.Second)
			f.away()
			result := r.atLast()
			check(t, result, reports.Error)
			for _, want := range []string{"Could not check: ", "connection refused", "Not connected from +1s on"} {
				if !strings.Contains(result.Message, want) {
					t.Errorf("%q lacks %q", result.Message, want)
				}
			}
		})
	}
}

// A state that was dropped from memory is not counted as one that held.
func TestDroppedStatesAreNotJudged(t *testing.T) {
	f := newFixture(t, history.WithMaxBytes(0))
	f.put("web", "ready", true)
	f.observe()
	w := f.watcher()
	for i := range 3 {
		f.put("web", "ready", true, "n", i)
	}
	for {
		_, more := w.follow(func(history.Change) bool { return false })
		select {
		case <-more:
			continue
		default:
		}
		break
	}
	result := w.heldThroughout(true, time.Second)
	if want := "states were dropped from memory"; w.skipped == 0 || result.Status != reports.Error ||
		!strings.Contains(result.Message, want) {
		t.Errorf("%d skipped, and %q lacks %q", w.skipped, result.Message, want)
	}
	if got := fmt.Sprint(w.candidates[[2]string{"x", "web"}].object.Object["n"]); got != "2" {
		t.Errorf("the judge knows state %s, want the newest", got)
	}
}

// A condition that was not checked on any object fails, unless the scenario allows that.
func TestVacuous(t *testing.T) {
	nothing := scenarios.Selection{Selector: map[string]string{"app": "nothing"}}
	condition := scenarios.Assertion{Selection: nothing, CEL: "object.ready", For: length}
	allowed := condition
	allowed.Vacuous = scenarios.Allowed
	absent := condition
	absent.Absent, absent.Within = true, length
	most := condition
	most.CEL, most.Match, most.Count = "", map[string]any{"ready": true}, &scenarios.Count{Max: ptr.To(3)}
	later := func(f *fixture) { f.put("late", "ready", false, "labels", map[string]any{"app": "nothing"}) }
	for _, tt := range []struct {
		name      string
		decide    verb
		assertion scenarios.Assertion
		during    func(*fixture)
		want      reports.Status
	}{
		{"vacuous-never", Never, condition, nil, reports.Failed},
		{"vacuous-never-allowed", Never, allowed, nil, reports.Passed},
		{"vacuous-never-asked-later", Never, condition, later, reports.Passed},
		{"vacuous-always-absent", Always, absent, nil, reports.Failed},
		{"vacuous-always-at-most", Always, most, nil, reports.Failed},
		{"vacuous-never-none", Never, scenarios.Assertion{Selection: nothing, For: length}, nil, reports.Passed},
		{"vacuous-eventually-absent", Eventually, absent, nil, reports.Failed},
		{"vacuous-eventually-absent-asked-later", Eventually, absent, later, reports.Passed},
		{"vacuous-eventually-none", Eventually, scenarios.Assertion{Selection: nothing, Absent: true}, nil, reports.Passed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.put("web", "ready", true)
			f.observe()
			r := f.begun(tt.decide, tt.assertion)
			f.clock.Step(time.Second)
			if tt.during != nil {
				tt.during(f)
			}
			result := r.after(5 * time.Second)
			check(t, result, tt.want)
			matchesFile(t, tt.name, result.Message)
		})
	}
	t.Run("asked before the step", func(t *testing.T) {
		f := newFixture(t).observe()
		later(f)
		f.delete("late")
		check(t, f.now(Eventually, absent), reports.Passed)
	})
}

// An expression over all objects must not be true of no objects either, with never and absent.
func TestNoObjectIsLeft(t *testing.T) {
	few := scenarios.Assertion{CEL: "objects.ready", For: length}
	none := few
	none.For, none.Absent, none.Within = 0, true, length
	for name, test := range map[string]struct {
		decide    verb
		assertion scenarios.Assertion
		want      reports.Status
	}{
		"never":             {Never, few, reports.Failed},
		"eventually absent": {Eventually, none, reports.Passed}, // at the first look
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.put("web", "ready", false)
			f.observe()
			r := f.begun(test.decide, test.assertion)
			f.clock.Step(time.Second)
			f.delete("web")
			check(t, r.after(5*time.Second), test.want)
		})
	}
	f := newFixture(t)
	f.put("web", "ready", false)
	f.observe().delete("web")
	none.Vacuous = scenarios.Allowed
	check(t, f.begun(Eventually, none).after(time.Duration(length)+time.Second), reports.Failed)
}
