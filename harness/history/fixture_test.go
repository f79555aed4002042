package history_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

var (
	pods  = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	nodes = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
)

func pod(namespace, name string, labels ...string) map[string]any {
	set := map[string]any{}
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		set[key] = value
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{
			"name": name, "namespace": namespace, "labels": set,
			"managedFields": []any{map[string]any{"manager": "test"}},
		},
	}
}

func node(name string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": name}}
}

func withLabel(t *testing.T, selector string) labels.Selector {
	t.Helper()
	parsed, err := labels.Parse(selector)
	golden.Must(t, err)
	return parsed
}

// bounded returns a context that ends long after everything in these tests should have happened.
func bounded(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func newRecorder(t testing.TB, server *apitest.Server, options ...history.Option) *history.Recorder {
	t.Helper()
	recorder, err := history.New(server.Config(), options...)
	golden.Must(t, err)
	t.Cleanup(recorder.Close)
	return recorder
}

// watched returns a server with these pods, and a stream that has seen and watches them.
func watched(t *testing.T, objects ...map[string]any) (*apitest.Server, *history.Recorder, *history.Stream) {
	t.Helper()
	server := apitest.New(t)
	for _, object := range objects {
		server.Put(pods.Resource, object)
	}
	recorder := newRecorder(t, server)
	stream := recorder.Stream(pods)
	await(t, stream, changes(len(objects)))
	server.AwaitWatches(1)
	return server, recorder, stream
}

// await returns the changes of all objects as soon as the condition is true for them and the view.
func await(t *testing.T, stream *history.Stream, done func(history.View, []history.Change) bool) []history.Change {
	t.Helper()
	ctx := bounded(t)
	for {
		changes, _, wake := stream.Since(0, history.Scope{})
		view := stream.View(history.Scope{})
		if done(view, changes) {
			return changes
		}
		select {
		case <-wake:
		case <-ctx.Done():
			t.Fatalf("it was not reached: synced %v, error %v, changes:\n%s", view.Synced, view.Err, describe(changes))
		}
	}
}

func changes(n int) func(history.View, []history.Change) bool {
	return func(view history.View, changes []history.Change) bool { return view.Synced && len(changes) == n }
}

// describe writes one line per change: type, object, resourceVersion, and whether it was relisted and more follow.
func describe(changes []history.Change) string {
	var b strings.Builder
	for _, change := range changes {
		fmt.Fprintf(&b, "%s %s/%s %s", change.Type, change.Namespace, change.Name, change.ResourceVersion)
		if change.Relisted {
			b.WriteString(" relisted")
		}
		if change.More {
			b.WriteString(" more")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.TrimSpace(got), strings.TrimSpace(want))
	}
}
