package survey

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rehearse-dev/rehearse/harness/inventory"
)

// An operator creates a custom resource for a given one, and a StatefulSet for that. The custom resource, the
// StatefulSet and its Pods belong to the given one.
func TestDependentsThroughAnOperator(t *testing.T) {
	given := &Target{
		GVK: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Group"}, Name: "web", UID: "1",
	}
	s := &Survey{targets: []*Target{given}}
	around := kindsAround(s.targets, customKinds(map[string]*unstructured.Unstructured{
		"": {Object: map[string]any{"spec": map[string]any{
			"group": "example.com", "names": map[string]any{"kind": "Member"},
		}}},
	}))
	found := &sight{
		Inventory: inventory.Inventory{Kinds: map[schema.GroupKind]*inventory.Kind{}},
		lists:     map[schema.GroupVersionKind]list{},
	}
	for _, one := range []struct {
		kind       schema.GroupVersionKind
		uid, owner string
	}{
		{given.GVK, "1", ""},
		{schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Member"}, "between", "1"},
		{schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}, "2", "between"},
		{schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, "3", "2"},
		{schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, "4", "nobody here"},
	} {
		if !around[one.kind.GroupKind()] {
			t.Fatalf("%s is not read", one.kind.Kind)
		}
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(one.kind)
		o.SetUID(types.UID(one.uid))
		o.SetName("web")
		if yes := true; one.owner != "" {
			o.SetOwnerReferences([]metav1.OwnerReference{{UID: types.UID(one.owner), Controller: &yes}})
		}
		found.Kinds[one.kind.GroupKind()] = &inventory.Kind{Versions: []string{one.kind.Version}}
		if found.lists[one.kind].objects == nil {
			found.lists[one.kind] = list{objects: map[string]*unstructured.Unstructured{}}
		}
		found.lists[one.kind].objects[one.uid] = o
	}
	s.findTargets(found)
	belong := map[string]*Target{}
	for _, target := range found.targets {
		belong[target.UID] = target.Root
	}
	if len(belong) != 4 || belong["between"] != given || belong["2"] != given || belong["3"] != given {
		t.Errorf("got %v", belong)
	}
}
