package writes_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
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
			if err := (writes.Remover{Client: client}).Remove(t.Context(), writes.Made{
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
	golden.Must(t, writes.Remover{Client: client}.Remove(t.Context(), writes.Made{
		Kind: "CustomResourceDefinition", Resource: crds, Name: "gizmos.example.com", UID: string(made.GetUID()),
	}, nil))
}

// A version that is not served says nothing about the object, except of a custom kind without a definition.
func TestRemoveWhatIsNotServed(t *testing.T) {
	crds := apitest.Extensions()[0]
	kind := func(group, version string) apitest.Kind {
		return apitest.Kind{
			GVK: schema.GroupVersionKind{Group: group, Version: version, Kind: "Thing"}, Resource: "things",
		}
	}
	const own, custom = "flowcontrol.apiserver.k8s.io", "x.io"
	for name, test := range map[string]struct {
		group   string
		remains bool // another version is served
		defined bool // there is a CustomResourceDefinition
		blind   bool // the versions are not discovered
		left    int
		says    string
	}{
		"of Kubernetes, in another version":              {group: own, remains: true},
		"of Kubernetes, other versions cannot be seen":   {group: own, remains: true, blind: true, left: 1, says: "delete Thing a"},
		"of Kubernetes, in no version":                   {group: own, left: 1, says: "Thing of " + own + "/v1beta3 is not served by 1.35.4"},
		"custom, in another version":                     {group: custom, remains: true, defined: true},
		"custom, defined, other versions cannot be seen": {group: custom, defined: true, blind: true, left: 1, says: "delete Thing a"},
		"custom, and its definition is gone":             {group: custom, left: 1},
	} {
		t.Run(name, func(t *testing.T) {
			server := apitest.New(t, crds)
			if test.remains {
				server.Serve(kind(test.group, "v1"))
			}
			if test.defined {
				server.Put(crds.Resource, map[string]any{
					"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
					"metadata": map[string]any{"name": "things." + test.group},
				})
			}
			made := server.Put("things", map[string]any{
				"apiVersion": test.group + "/v1", "kind": "Thing", "metadata": map[string]any{"name": "a"},
			})
			ctx, cancel := context.WithCancel(t.Context())
			server.Misbehave(func(r apitest.Request) *apitest.Fault {
				if r.Verb == "delete" && r.Number > 2 {
					cancel()
				}
				return nil
			})
			s := newSender(t, server)
			s.Kinds.Cross("1.35.4")
			remover := writes.Remover{Client: s.Client, Kinds: s.Kinds}
			if test.blind {
				remover.Kinds = nil
			}
			err := remover.Remove(ctx, writes.Made{
				Kind: "Thing", Resource: kind(test.group, "v1beta3").GVK.GroupVersion().WithResource("things"),
				Name: "a", UID: string(made.GetUID()),
			}, nil)
			if got := server.Count("things"); got != test.left {
				t.Errorf("%d objects left, want %d", got, test.left)
			}
			if (err != nil) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
}

// An object with a generated name is found by its step's field manager, if the answer to its creation was lost until
// the timeout.
func TestRemoveWhatMayHaveBeenMade(t *testing.T) {
	server := apitest.New(t)
	s := newSender(t, server)
	server.Put("configmaps", stored("web-1", "ns"))
	ctx, cancel := context.WithCancel(t.Context())
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		switch {
		case r.Kind == "ConfigMap" && r.Verb == "create":
			return &apitest.Fault{Stored: true}
		case r.Kind == "ConfigMap" && r.Verb == "list":
			cancel()
			return &apitest.Fault{}
		}
		return nil
	})
	object := configMap("", nil)
	object["metadata"] = map[string]any{"generateName": "web-"}
	if got := s.do(ctx, scenarios.Step{Create: object}); got.Status != reports.Error || server.Count("configmaps") != 2 {
		t.Fatalf("got %s: %s", got.Status, got.Message)
	}
	if len(s.made) != 1 || s.made[0].Name != "" || s.made[0].GenerateName != "web-" {
		t.Fatalf("made %+v", s.made)
	}
	server.Misbehave(only("list", server.Requests("list", "ConfigMap")+1, apitest.Fault{})) // the first time
	golden.Must(t, writes.Remover{Client: s.Client}.Remove(t.Context(), s.made[0], nil))
	if server.Count("configmaps") != 1 || server.Object("configmaps", "ns", "web-1") == nil {
		t.Errorf("%d objects are left, want that of somebody else", server.Count("configmaps"))
	}
}

// Only the texts of a namespace controller that is not done yet let the removal wait for longer.
func TestQueued(t *testing.T) {
	for name, test := range map[string]struct {
		err    writes.StillThereError
		queued bool
	}{
		"not reached yet":  {writes.StillThereError{Deleting: true}, true},
		"not deleted":      {writes.StillThereError{}, false},
		"with a finalizer": {writes.StillThereError{Deleting: true, Finalizers: []string{"x.io/keep"}}, false},
		"while pods terminate": {writes.StillThereError{Deleting: true, Reasons: []string{
			"Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: a for gvr: /v1, Resource=pods",
			"Some resources are remaining: pods. has 1 resource instances",
		}}, true},
		"content with finalizers": {writes.StillThereError{Deleting: true, Reasons: []string{
			"Some resources are remaining: boxes.x.io has 1 resource instances",
			"Some content in the namespace has finalizers remaining: x.io/keep in 1 resource instances",
		}}, false},
		"a webhook that rejects": {writes.StillThereError{Deleting: true, Reasons: []string{
			`Failed to delete all resource types, 1 remaining: admission webhook "x.io" denied the request`,
		}}, false},
	} {
		if queued := test.err.Queued(); queued != test.queued {
			t.Errorf("%s: %v", name, queued)
		}
	}
}
