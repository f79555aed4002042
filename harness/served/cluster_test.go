package served_test

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A definition that is written through one API server may bring its kind to each API server of the cluster.
func TestPeersKnowTheSameDefinitions(t *testing.T) {
	server := apitest.New(t)
	client, err := discovery.NewDiscoveryClientForConfig(server.Config())
	golden.Must(t, err)
	balanced := served.NewKinds(client.RESTClient(), "1.36.3")
	early := balanced.Peer(client.RESTClient(), "1.36.3")
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "toys.example.com"},
		"spec": map[string]any{
			"group": "example.com", "names": map[string]any{"kind": "Toy"},
			"versions": []any{map[string]any{"name": "v1", "served": true}},
		},
	}}
	toy := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Toy"}
	mayAppear := func(k *served.Kinds) bool {
		_, err := k.Find(t.Context(), toy)
		var none *served.NotServedError
		if !errors.As(err, &none) {
			t.Fatalf("%v: want a kind that is not served", err)
		}
		return none.MayAppear
	}
	if mayAppear(balanced) {
		t.Error("nothing has defined the kind yet")
	}
	early.Wrote(definition)
	late := balanced.Peer(client.RESTClient(), "1.35.4")
	for name, kinds := range map[string]*served.Kinds{"balanced": balanced, "early": early, "late": late} {
		if !mayAppear(kinds) || !kinds.IsFresh(toy) {
			t.Errorf("%s does not expect the kind", name)
		}
	}
	server.Serve(apitest.Kind{GVK: toy, Resource: "toys"})
	if _, err := balanced.Find(t.Context(), toy); err != nil {
		t.Error(err)
	}
	server.Withdraw(toy)
	late.Removed(schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, "toys.example.com")
	if mayAppear(balanced) {
		t.Error("the definition was removed")
	}
}
