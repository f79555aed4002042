package assertions

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

var (
	services = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	others   = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
)

// fixture is a cluster with a history. The test controls its clock.
type fixture struct {
	t        *testing.T
	server   *apitest.Server
	clock    *clocktesting.FakeClock
	recorder *history.Recorder
	stream   *history.Stream
}

func newFixture(t *testing.T, options ...history.Option) *fixture {
	t.Helper()
	f := &fixture{t: t, server: apitest.New(t), clock: clocktesting.NewFakeClock(time.Unix(1000, 0))}
	var err error
	if f.recorder, err = history.New(f.server.Config(), append(options, history.WithClock(f.clock))...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.recorder.Close)
	return f
}

// observe starts the stream and returns when the stream has reported everything.
func (f *fixture) observe() *fixture {
	f.t.Helper()
	f.stream = f.recorder.Stream(services)
	f.until("connected", func(view history.View, _ []history.Gap) bool { return view.Synced })
	f.settle()
	return f
}

func (f *fixture) settle() {
	f.t.Helper()
	if err := f.stream.CatchUp(f.bounded(), history.Scope{}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) bounded() context.Context {
	ctx, cancel := context.WithTimeout(f.t.Context(), 20*time.Second)
	f.t.Cleanup(cancel)
	return ctx
}

func (f *fixture) put(name string, fields ...any) {
	f.t.Helper()
	f.server.Put(services.Resource, service("x", name, fields...))
	if f.stream != nil {
		f.settle()
	}
}

func (f *fixture) delete(name string) {
	f.t.Helper()
	f.server.Delete(services.Resource, "x", name)
	f.settle()
}

// until returns as soon as the condition is true for the stream.
func (f *fixture) until(what string, is func(history.View, []history.Gap) bool) {
	f.t.Helper()
	ctx := f.bounded()
	for {
		_, _, wake := f.stream.Since(0, history.Scope{})
		view, gaps := f.stream.View(history.Scope{}), f.stream.Gaps()
		if is(view, gaps) {
			return
		}
		select {
		case <-wake:
		case <-ctx.Done():
			f.t.Fatalf("the stream was never %s; error %v, gaps %+v", what, view.Err, gaps)
		}
	}
}

// away stops the server and returns when the stream has noticed that.
func (f *fixture) away() {
	f.t.Helper()
	f.server.Down()
	f.until("rejected", func(view history.View, _ []history.Gap) bool {
		return view.Err != nil && strings.Contains(view.Err.Error(), "connection refused")
	})
}

// back starts the server and returns when the stream is connected, with or without a new list.
func (f *fixture) back(relisted bool) {
	f.t.Helper()
	f.server.Up()
	f.until("connected", func(view history.View, gaps []history.Gap) bool {
		return view.Synced && len(gaps) > 0 && gaps[len(gaps)-1].Relisted == relisted
	})
	f.settle()
}

// lookedClock calls looked when the assertion first asks for the time, which is after its first check.
type lookedClock struct {
	*clocktesting.FakeClock
	looked func()
}

func (c lookedClock) Now() time.Time {
	now := c.FakeClock.Now() // before the test advances the clock
	c.looked()
	return now
}

// running is an assertion that is being decided.
type running struct {
	f      *fixture
	looked chan struct{}
	result chan Result
}

type verb func(context.Context, Input) Result

// start starts to decide an assertion in namespace x.
func (f *fixture) start(ctx context.Context, decide verb, assertion scenarios.Assertion) *running {
	f.t.Helper()
	if f.stream == nil {
		f.stream = f.recorder.Stream(services)
	}
	r := &running{f: f, looked: make(chan struct{}), result: make(chan Result, 1)}
	assertion.Kind = "Service"
	scope := history.Scope{Namespace: "x", Name: assertion.Name}
	if len(assertion.Selector) > 0 {
		scope.Selector = labels.SelectorFromSet(assertion.Selector)
	}
	in := Input{
		Assertion: assertion, Stream: f.stream, Scope: scope, CEL: evaluate,
		Timeout: 5 * time.Second,
		Started: f.clock.Now(),
		Clock:   lookedClock{f.clock, sync.OnceFunc(func() { close(r.looked) })},
	}
	go func() { r.result <- decide(ctx, in) }()
	return r
}

// begun starts to decide an assertion and returns after its first check.
func (f *fixture) begun(decide verb, assertion scenarios.Assertion) *running {
	f.t.Helper()
	r := f.start(f.t.Context(), decide, assertion)
	<-r.looked
	return r
}

// now returns the result of an assertion that needs no time to pass.
func (f *fixture) now(decide verb, assertion scenarios.Assertion) Result {
	f.t.Helper()
	return <-f.start(f.t.Context(), decide, assertion).result
}

// after advances the clock by this time and returns the result.
func (r *running) after(d time.Duration) Result {
	r.f.clock.Step(d)
	return <-r.result
}

// atLast advances the clock until there is a result.
func (r *running) atLast() Result {
	for {
		select {
		case result := <-r.result:
			return result
		default:
			if r.f.clock.HasWaiters() {
				r.f.clock.Step(time.Second)
			}
			runtime.Gosched()
		}
	}
}

// evaluate stands in for CEL: "object.F" or "object.status.F" is the boolean field F of the object. "objects.F"
// reports whether F is true for all objects.
func evaluate(expression string, variables map[string]any) (bool, error) {
	of := func(object any, field string) (bool, error) {
		if inner, ok := strings.CutPrefix(field, "status."); ok {
			object, field = object.(map[string]any)["status"], inner
		}
		value, there := object.(map[string]any)[field]
		is, ok := value.(bool)
		switch {
		case !there:
			return false, &expressions.MissingError{What: "no such key: " + field}
		case !ok:
			return false, errors.New("no such overload")
		}
		return is, nil
	}
	if field, ok := strings.CutPrefix(expression, "object."); ok {
		return of(variables["object"], field)
	}
	field := strings.TrimPrefix(expression, "objects.")
	for _, object := range variables["objects"].([]any) {
		if is, err := of(object, field); !is || err != nil {
			return is, err
		}
	}
	return true, nil
}

// service makes a Service. Each pair of fields is a name and a value; labels and generation go into its metadata.
func service(namespace, name string, fields ...any) map[string]any {
	object := map[string]any{
		"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{"namespace": namespace, "name": name},
	}
	for i := 0; i < len(fields); i += 2 {
		if key := fields[i].(string); key == "labels" || key == "generation" {
			object["metadata"].(map[string]any)[key] = fields[i+1]
		} else {
			object[key] = fields[i+1]
		}
	}
	return object
}

func check(t *testing.T, result Result, want reports.Status) {
	t.Helper()
	if result.Status != want {
		t.Errorf("%s, want %s: %s", result.Status, want, result.Message)
	}
	if result.DecidedAt.IsZero() {
		t.Error("the result has no time")
	}
}

// sinceFirstLook matches the part that depends on whether the first check came before the test's first clock step.
var sinceFirstLook = regexp.MustCompile(`\(\d+s into `)

// matchesFile compares a message with testdata/NAME.txt.
func matchesFile(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	want := golden.Want(t, file, got+"\n")
	if sinceFirstLook.ReplaceAllString(got+"\n", "(") != sinceFirstLook.ReplaceAllString(want, "(") {
		t.Errorf("%s: got:\n%s\nwant:\n%s", file, got, want)
	}
}

// watcher returns a watcher for an always, after its first check.
func (f *fixture) watcher() *watcher {
	f.t.Helper()
	w := newWatcher(Input{
		Assertion: ready(), Stream: f.stream, Scope: history.Scope{Namespace: "x"}, CEL: evaluate, Clock: f.clock,
	}, "always")
	if err := w.look(f.bounded()); err != nil {
		f.t.Fatal(err)
	}
	return w
}
