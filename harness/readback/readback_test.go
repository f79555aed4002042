package readback_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/apitest"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/readback"
)

var maps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

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
			if err != nil {
				t.Fatal(err)
			}
			source := readback.Source{Client: client.Resource(maps)}
			if test.watched {
				recorder, err := history.New(server.Config())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(recorder.Close)
				source.Stream = recorder.Stream(maps)
				if err := source.Stream.CatchUp(t.Context(), history.Scope{}); err != nil {
					t.Fatal(err)
				}
			}
			wrote := readback.Acknowledged{}
			wrote.Add(server.Put(maps.Resource, configMap("a")))
			b := server.Put(maps.Resource, configMap("b"))
			if test.newest != nil {
				b = test.newest(b)
			}
			wrote.Add(b)
			if source.Stream != nil {
				if err := source.Stream.CatchUp(t.Context(), history.Scope{}); err != nil {
					t.Fatal(err)
				}
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
