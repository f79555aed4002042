package writes_test

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A conflict means that the object is another one now, unless admission rejects the deletion with that code.
func TestRemoveAfterAConflict(t *testing.T) {
	maps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	for name, test := range map[string]struct {
		rejected bool // the first deletion is rejected by admission
		replaced bool // another client recreated the object
		left     int
	}{
		"admission rejects the first deletion": {rejected: true},
		"another client recreated it":          {replaced: true, left: 1},
	} {
		t.Run(name, func(t *testing.T) {
			server := apitest.New(t)
			client, err := dynamic.NewForConfig(server.Config())
			golden.Must(t, err)
			object := map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web", "namespace": "x"},
			}
			made := server.Put(maps.Resource, object)
			if test.replaced {
				server.Delete(maps.Resource, "x", "web")
				server.Put(maps.Resource, object)
			}
			server.Reject(func(r apitest.Request) *metav1.Status {
				if !test.rejected || r.Verb != "delete" {
					return nil
				}
				test.rejected = false
				return apitest.Failure(http.StatusConflict, metav1.StatusReasonConflict)
			})
			if err := writes.Remove(t.Context(), client, writes.Made{
				Kind: "ConfigMap", Resource: maps, Namespaced: true, Namespace: "x", Name: "web", UID: string(made.GetUID()),
			}, nil); err != nil {
				t.Fatal(err)
			}
			if got := server.Count(maps.Resource); got != test.left {
				t.Errorf("%d objects left, want %d", got, test.left)
			}
		})
	}
}

// kube-apiserver tries the deletion of a CustomResourceDefinition again, which has failed.
func TestRemoveRetriesTheDeletionOfACRD(t *testing.T) {
	crds := schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}
	server := apitest.New(t, apitest.Extensions()...)
	client, err := dynamic.NewForConfig(server.Config())
	golden.Must(t, err)
	made := server.Put(crds.Resource, map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "gizmos.example.com", "finalizers": []any{"customresourcecleanup"}},
		"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Terminating", "status": "True", "reason": "InstanceDeletionFailed"},
		}},
	})
	server.Reject(func(r apitest.Request) *metav1.Status {
		if r.Verb == "patch" {
			go server.Delete(crds.Resource, "", "gizmos.example.com")
		}
		return nil
	})
	golden.Must(t, writes.Remove(t.Context(), client, writes.Made{
		Kind: "CustomResourceDefinition", Resource: crds, Name: "gizmos.example.com", UID: string(made.GetUID()),
	}, nil))
}
