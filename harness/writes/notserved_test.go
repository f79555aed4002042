package writes_test

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func flow(version, kind, resource string) apitest.Kind {
	return apitest.Kind{
		GVK:      schema.GroupVersionKind{Group: "flow.k8s.io", Version: version, Kind: kind},
		Resource: resource,
	}
}

func TestNotServed(t *testing.T) {
	kinds := []apitest.Kind{
		flow("v1", "FlowSchema", "flowschemas"), flow("v1alpha1", "Level", "levels"), flow("v1beta2", "Level", "levels"),
		flow("v1beta2", "FlowSchema", "flowschemas"),
	}
	for want, gvk := range map[string]schema.GroupVersionKind{
		"FlowSchema of flow.k8s.io/v1beta3 is not served by 1.34.4; v1, v1beta2 are served": {
			Group:   "flow.k8s.io",
			Version: "v1beta3", Kind: "FlowSchema",
		},
		"FlowSchema of flow.k8s.io/v1alpha1 is not served by 1.34.4; v1, v1beta2 are served": {
			Group:   "flow.k8s.io",
			Version: "v1alpha1", Kind: "FlowSchema",
		},
		"Level of flow.k8s.io/v1 is not served by 1.34.4; v1beta2, v1alpha1 are served": {
			Group:   "flow.k8s.io",
			Version: "v1", Kind: "Level",
		},
		"Thing of flow.k8s.io/v9 is not served by 1.34.4; the group flow.k8s.io is served as v1, v1beta2, v1alpha1, but " +
			"has no such kind": {Group: "flow.k8s.io", Version: "v9", Kind: "Thing"},
		"Thing of x.io/v1 is not served by 1.34.4; nothing of the group x.io is served": {
			Group: "x.io", Version: "v1",
			Kind: "Thing",
		},
		`Podd of v1 is not served by 1.34.4; did you mean "Pod"?`: {Version: "v1", Kind: "Podd"},
		"Gizmo of v1 is not served by 1.34.4":                     {Version: "v1", Kind: "Gizmo"},
	} {
		_, err := newSender(t, apitest.New(t, kinds...)).Kinds.Find(t.Context(), gvk)
		var none *served.NotServedError
		if !errors.As(err, &none) || none.Error() != want || none.MayAppear {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// If only the group's document cannot be read, the message does not mention other versions.
func TestNotServedAndNotToldWhatIs(t *testing.T) {
	server := apitest.New(t)
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		if r.Verb == "group" {
			return &apitest.Fault{Status: apitest.Status(503, "ServiceUnavailable", "starting")}
		}
		return nil
	})
	_, err := newSender(t, server).Kinds.Find(t.Context(), schema.GroupVersionKind{
		Group: "x.io", Version: "v1",
		Kind: "Thing",
	})
	if err == nil || err.Error() != "Thing of x.io/v1 is not served by 1.34.4" {
		t.Error(err)
	}
}

func TestNotServedSinceATransition(t *testing.T) {
	beta := flow("v1beta3", "FlowSchema", "flowschemas")
	server := apitest.New(t, beta, flow("v1", "FlowSchema", "flowschemas"))
	s := newSender(t, server)
	if _, err := s.Kinds.Find(t.Context(), beta.GVK); err != nil {
		t.Fatal(err)
	}
	server.Withdraw(beta.GVK)
	s.Kinds.Cross("1.35.4")
	_, err := s.Kinds.Find(t.Context(), beta.GVK)
	want := "FlowSchema of flow.k8s.io/v1beta3 is not served by 1.35.4; v1 is served; 1.34.4 served it before the " +
		"transition"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func definition() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "things.x.io"},
		"spec": map[string]any{
			"group": "x.io", "names": map[string]any{"kind": "Thing"},
			"versions": []any{map[string]any{"name": "v1", "served": true}, map[string]any{"name": "v2", "served": false}},
		},
	}}
}

// A kind may appear only if something on the track may have added it, and only if it may be a custom kind.
func TestMayAppear(t *testing.T) {
	thing := func(version string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: "x.io", Version: version, Kind: "Thing"}
	}
	define := func(k *served.Kinds) { k.Wrote(definition()) }
	more := func(k *served.Kinds) { k.ExpectMore() }
	for name, test := range map[string]struct {
		before func(*served.Kinds)
		gvk    schema.GroupVersionKind
		may    bool
	}{
		"nothing was written":            {before: func(*served.Kinds) {}, gvk: thing("v1")},
		"it was defined":                 {before: define, gvk: thing("v1"), may: true},
		"another version was":            {before: define, gvk: thing("v3")},
		"it was defined, but not served": {before: define, gvk: thing("v2")},
		"its definition was deleted": {before: func(k *served.Kinds) {
			define(k)
			k.Removed(schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, "things.x.io")
		}, gvk: thing("v1")},
		"a service was made": {before: func(k *served.Kinds) {
			k.Wrote(&unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1.x.io"},
				"spec": map[string]any{"group": "x.io", "version": "v1"},
			}})
		}, gvk: thing("v1"), may: true},
		"a program ran": {before: more, gvk: thing("v1"), may: true},
		"a transition was made": {
			before: func(k *served.Kinds) { k.Cross("1.35.4") }, gvk: thing("v1"),
			may: true,
		},
		"a kind of Kubernetes itself": {
			before: more,
			gvk:    schema.GroupVersionKind{Group: "flowcontrol.apiserver.k8s.io", Version: "v1beta3", Kind: "FlowSchema"},
		},
		"a kind of Kubernetes without a domain": {before: more, gvk: schema.GroupVersionKind{
			Group: "apps", Version: "v1",
			Kind: "Deploymnt",
		}},
		"a core kind": {before: more, gvk: schema.GroupVersionKind{Version: "v1", Kind: "Podd"}},
	} {
		t.Run(name, func(t *testing.T) {
			kinds := newSender(t, apitest.New(t)).Kinds
			test.before(kinds)
			_, err := kinds.Find(t.Context(), test.gvk)
			var none *served.NotServedError
			if !errors.As(err, &none) || none.MayAppear != test.may {
				t.Errorf("got %+v, want %t", none, test.may)
			}
		})
	}
}

func TestKindThatAppears(t *testing.T) {
	server := apitest.New(t, apitest.Kind{GVK: definition().GroupVersionKind(), Resource: "customresourcedefinitions"})
	s := newSender(t, server)
	s.Appear = time.Hour
	if got := s.do(t.Context(), scenarios.Step{Create: definition().Object}); got.Status != reports.Passed {
		t.Fatal(got.Message)
	}
	asked := 0
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		if r.Verb != "discover" {
			return nil
		}
		if asked++; asked == 3 {
			server.Serve(apitest.Kind{
				GVK:      schema.GroupVersionKind{Group: "x.io", Version: "v1", Kind: "Thing"},
				Resource: "things",
			})
		}
		return nil
	})
	got := s.do(t.Context(), scenarios.Step{Create: scenarios.Object{
		"apiVersion": "x.io/v1", "kind": "Thing",
		"metadata": map[string]any{"name": "a"},
	}})
	if got.Status != reports.Passed {
		t.Errorf("got %s: %s", got.Status, got.Message)
	}
}
