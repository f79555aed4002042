package readback_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/readback"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

var maps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// watched returns a source with a stream that has caught up.
func watched(t *testing.T, server *apitest.Server) readback.Source {
	t.Helper()
	client, err := dynamic.NewForConfig(server.Config())
	golden.Must(t, err)
	recorder, err := history.New(server.Config())
	golden.Must(t, err)
	t.Cleanup(recorder.Close)
	source := readback.Source{
		Client: client.Resource(maps), Stream: recorder.Stream(maps), Began: recorder.Now(),
	}
	golden.Must(t, source.Stream.CatchUp(t.Context(), history.Scope{}))
	server.AwaitWatches(1)
	return source
}

func configMap(name string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "x"},
	}
}

// Whether an object that is gone was lost or deleted is known only with a watch.
func TestFind(t *testing.T) {
	newer := func(o *unstructured.Unstructured) *unstructured.Unstructured {
		o = o.DeepCopy()
		o.SetResourceVersion("999999")
		return o
	}
	for name, test := range map[string]struct {
		watched bool
		delete  []string
		newest  func(*unstructured.Unstructured) *unstructured.Unstructured
		lost    string
		deleted int
		unknown string
	}{
		"all are there":                   {watched: true},
		"all are there, without a watch":  {},
		"one was deleted":                 {watched: true, delete: []string{"a"}, deleted: 1},
		"one is gone, without a watch":    {delete: []string{"a"}, unknown: "a: not there, and it is unknown"},
		"two are gone, without a watch":   {delete: []string{"a", "b"}, unknown: "a, b: not there"},
		"one is too old":                  {watched: true, newest: newer, lost: "b has resourceVersion"},
		"one is too old, without a watch": {newest: newer, lost: "b has resourceVersion"},
		"one is too old, and one is gone": {
			delete: []string{"a"}, newest: newer, lost: "b has resourceVersion", unknown: "a: not there",
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := apitest.New(t)
			client, err := dynamic.NewForConfig(server.Config())
			golden.Must(t, err)
			source := readback.Source{Client: client.Resource(maps)}
			if test.watched {
				recorder, err := history.New(server.Config())
				golden.Must(t, err)
				t.Cleanup(recorder.Close)
				source.Stream = recorder.Stream(maps)
				golden.Must(t, source.Stream.CatchUp(t.Context(), history.Scope{}))
			}
			wrote := readback.Acknowledged{}
			wrote.Add(server.Put(maps.Resource, configMap("a")))
			b := server.Put(maps.Resource, configMap("b"))
			if test.newest != nil {
				b = test.newest(b)
			}
			wrote.Add(b)
			if source.Stream != nil {
				golden.Must(t, source.Stream.CatchUp(t.Context(), history.Scope{}))
			}
			for _, gone := range test.delete {
				server.Delete(maps.Resource, "x", gone)
			}
			found, err := wrote.Find(t.Context(), source)
			said := ""
			if err != nil {
				said = err.Error()
			}
			if (err != nil) != (test.unknown != "") || !strings.Contains(said, test.unknown) {
				t.Errorf("error %v, want %q", err, test.unknown)
			}
			lost := strings.Join(found.Lost, "\n")
			if (lost != "") != (test.lost != "") || !strings.Contains(lost, test.lost) || found.Deleted != test.deleted {
				t.Errorf("%d deleted, want %d; lost %q, want %q", found.Deleted, test.deleted, lost, test.lost)
			}
		})
	}
}

// An object that was made and deleted before the watch reported either was deleted, not lost.
func TestFindWaitsForTheWatch(t *testing.T) {
	server := apitest.New(t)
	source := watched(t, server)
	server.Hold()
	wrote := readback.Acknowledged{}
	wrote.Add(server.Put(maps.Resource, configMap("short")))
	server.Delete(maps.Resource, "x", "short")
	lists := server.Requests("list", "")
	go func() {
		server.AwaitRequests("list", lists+2) // one for the objects, one for the watch
		server.Release()
	}()
	found, err := wrote.Find(t.Context(), source)
	if err != nil || found.Deleted != 1 || len(found.Lost) > 0 {
		t.Errorf("%+v, %v: want one that was deleted", found, err)
	}
}

// If the watch may have missed a deletion, it is unknown whether an object is lost. If the storage went back, it is.
func TestFindAfterAnInterruption(t *testing.T) {
	for name, test := range map[string]struct {
		old     bool // the API server's storage goes back
		lost    int
		unknown string
	}{
		"the storage was compacted": {unknown: "a: not there, and it is unknown whether the writes are lost"},
		"the storage went back":     {old: true, lost: 1},
	} {
		t.Run(name, func(t *testing.T) {
			server := apitest.New(t)
			source := watched(t, server)
			restore := server.Snapshot()
			wrote := readback.Acknowledged{}
			wrote.Add(server.Put(maps.Resource, configMap("a")))
			golden.Must(t, source.Stream.CatchUp(t.Context(), history.Scope{}))
			server.Reject(func(r apitest.Request) *metav1.Status {
				if r.Verb != "list" || r.ResourceVersion == "" {
					return nil
				}
				status := apitest.TooOld()
				return &status
			})
			server.Down()
			server.Delete(maps.Resource, "x", "a")
			if test.old {
				restore()
			}
			server.Forget()
			server.Up()
			found, err := wrote.Find(t.Context(), source)
			said := ""
			if err != nil {
				said = err.Error()
			}
			if len(found.Lost) != test.lost || found.Deleted > 0 || (said != "") != (test.unknown != "") ||
				!strings.Contains(said, test.unknown) {
				t.Errorf("%+v, error %q: want %d lost, error %q", found, said, test.lost, test.unknown)
			}
		})
	}
}
