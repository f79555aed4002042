package writes_test

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func TestDeleteWaitsForFinalizers(t *testing.T) {
	server := apitest.New(t)
	object := stored("web", "ns")
	object["metadata"].(map[string]any)["finalizers"] = []any{"x.io/keep"}
	server.Put("configmaps", object)
	ctx, cancel := context.WithCancelCause(t.Context())
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		if r.Verb == "watch" {
			cancel(context.DeadlineExceeded)
		}
		return nil
	})
	ref := scenarios.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Name: "web"}
	got := newSender(t, server).do(ctx, scenarios.Step{Delete: &scenarios.Delete{ObjectReference: ref}})
	if got.Status != reports.Failed || !strings.Contains(got.Message, "x.io/keep") {
		t.Errorf("got %s: %s", got.Status, got.Message)
	}
}

// Many changes of other objects make the version of the object too old for a watch, which would end at once.
func TestDeleteWatchesFromTheVersionOfTheCollection(t *testing.T) {
	server := apitest.New(t)
	object := stored("web", "ns")
	object["metadata"].(map[string]any)["finalizers"] = []any{"x.io/keep"}
	server.Put("configmaps", object)
	ctx, cancel := context.WithCancelCause(t.Context())
	var deleted string
	var watched []string
	s := newSender(t, server)
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		switch r.Verb {
		case "list":
			api := s.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("ns")
			object, err := api.Get(context.Background(), "web", metav1.GetOptions{})
			golden.Must(t, err)
			deleted = object.GetResourceVersion()
			server.Put("configmaps", stored("other", "ns"))
		case "watch":
			watched = append(watched, r.ResourceVersion)
			cancel(context.DeadlineExceeded)
		}
		return nil
	})
	s.do(ctx, removal(nil))
	if len(watched) == 0 || deleted == "" || watched[0] == deleted {
		t.Errorf("it watched from %q, the version of the object is %s", watched, deleted)
	}
}

// The last look may be older than the end of the time: another one decides.
func TestDeleteLooksOnceMore(t *testing.T) {
	for name, gone := range map[string]bool{"it is gone meanwhile": true, "it is still there": false} {
		t.Run(name, func(t *testing.T) {
			server := apitest.New(t)
			object := stored("web", "ns")
			object["metadata"].(map[string]any)["finalizers"] = []any{"x.io/keep"}
			server.Put("configmaps", object)
			ctx, cancel := context.WithCancelCause(t.Context())
			server.Misbehave(func(r apitest.Request) *apitest.Fault {
				if r.Verb == "watch" {
					server.Hold()
					if gone {
						server.Delete("configmaps", "ns", "web")
					}
					cancel(context.DeadlineExceeded)
				}
				return nil
			})
			want := reports.Failed
			if gone {
				want = reports.Passed
			}
			if got := newSender(t, server).do(ctx, removal(nil)); got.Status != want {
				t.Errorf("%s: %s", got.Status, got.Message)
			}
		})
	}
}

func TestDeleteOfAllWithLabels(t *testing.T) {
	server := apitest.New(t)
	for _, name := range []string{"a", "b", "c"} {
		object := stored(name, "ns")
		if name != "c" {
			object["metadata"].(map[string]any)["labels"] = map[string]any{"app": "web"}
		}
		server.Put("configmaps", object)
	}
	step := scenarios.Step{Delete: &scenarios.Delete{
		ObjectReference: scenarios.ObjectReference{APIVersion: "v1", Kind: "ConfigMap"},
		Selector:        map[string]string{"app": "web"},
	}}
	s := newSender(t, server)
	if got := s.do(t.Context(), step); got.Status != reports.Passed {
		t.Fatal(got.Message)
	}
	if n := server.Count("configmaps"); n != 1 {
		t.Errorf("%d objects are left, want 1", n)
	}
	if got := s.do(t.Context(), step); got.Status != reports.Failed || !strings.Contains(got.Message,
		"nothing was deleted") {
		t.Errorf("got %s: %s", got.Status, got.Message)
	}
}

// A selected object that disappears while another one is being deleted counts as deleted.
func TestDeleteOfAllOfWhichSomeGo(t *testing.T) {
	server := apitest.New(t)
	for _, name := range []string{"a", "b"} {
		object := stored(name, "ns")
		object["metadata"].(map[string]any)["labels"] = map[string]any{"app": "web"}
		server.Put("configmaps", object)
	}
	s := newSender(t, server)
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		if r.Verb == "delete" && r.Number == 1 {
			api := s.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("ns")
			if err := api.Delete(context.Background(), "b", metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
	got := s.do(t.Context(), scenarios.Step{Delete: &scenarios.Delete{
		ObjectReference: scenarios.ObjectReference{APIVersion: "v1", Kind: "ConfigMap"},
		Selector:        map[string]string{"app": "web"},
	}})
	if got.Status != reports.Passed || !strings.Contains(got.Evidence, "b was gone already") ||
		server.Count("configmaps") != 0 {
		t.Errorf("got %s, %d are left: %s%s", got.Status, server.Count("configmaps"), got.Message, got.Evidence)
	}
}

// An API server that does not serve the kind says nothing about the object: it may be an old one behind a balancer.
func TestDeleteAmongServersThatDoNotServeTheKind(t *testing.T) {
	old := apitest.Fault{Code: 404, Text: "404 page not found"}
	for name, test := range map[string]struct {
		finalizers []any
		verb       string // the request that reaches the old server
		number     int
		first      *apitest.Fault // the answer to the first deletion
		status     reports.Status
		says       string
	}{
		"before the deletion": {verb: "get", number: 1, status: reports.Passed},
		"while its finalizers keep it": {
			finalizers: []any{"x.io/keep"}, verb: "get", number: 2, status: reports.Failed, says: "x.io/keep",
		},
		"after an answer that was lost": {
			verb: "get", number: 2, first: &apitest.Fault{}, status: reports.Passed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := apitest.New(t)
			object := stored("web", "ns")
			object["metadata"].(map[string]any)["finalizers"] = test.finalizers
			server.Put("configmaps", object)
			ctx, cancel := context.WithCancelCause(t.Context())
			server.Misbehave(func(r apitest.Request) *apitest.Fault {
				switch {
				case r.Kind != "ConfigMap":
				case r.Verb == test.verb && r.Number == test.number:
					return &old
				case r.Verb == "delete" && r.Number == 1:
					return test.first
				case r.Verb == "watch":
					cancel(context.DeadlineExceeded)
				}
				return nil
			})
			got := newSender(t, server).do(ctx, removal(nil))
			if got.Status != test.status || !strings.Contains(got.Message, test.says) {
				t.Errorf("got %s: %s", got.Status, got.Message)
			}
			if server.Count("configmaps") != 0 && test.finalizers == nil {
				t.Error("the object was not deleted")
			}
		})
	}
}

// A scenario may want that a kind is not served any more, of which it has written objects before.
func TestDeleteOfAKindThatIsGone(t *testing.T) {
	thing := apitest.Kind{GVK: schema.GroupVersionKind{Group: "x.io", Version: "v1", Kind: "Thing"}, Resource: "things"}
	ref := scenarios.ObjectReference{APIVersion: "x.io/v1", Kind: "Thing", Name: "a"}
	object := scenarios.Object{"apiVersion": "x.io/v1", "kind": "Thing", "metadata": map[string]any{"name": "a"}}
	for verb, step := range map[string]scenarios.Step{
		"delete": {Delete: &scenarios.Delete{ObjectReference: ref}}, "apply": {Apply: object}, "update": {Update: object},
		"create": {Create: object},
	} {
		t.Run(verb, func(t *testing.T) {
			server := apitest.New(t, thing)
			s := newSender(t, server)
			_, err := s.Kinds.Find(t.Context(), thing.GVK)
			golden.Must(t, err)
			server.Withdraw(thing.GVK)
			step.Expect = reject(scenarios.Rejection{Code: 404})
			if got := s.do(t.Context(), step); got.Status != reports.Passed {
				t.Errorf("got %s: %s", got.Status, got.Message)
			}
		})
	}
}
