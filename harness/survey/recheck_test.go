package survey

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
)

// An object that only the list of another version has was created or deleted between the lists, or cannot be listed.
func TestRecheck(t *testing.T) {
	v1, v2 := ofGroup("example.com", "Widget"), ofGroup("example.com", "Widget")
	v2.Version = "v2"
	widget := func(gvk schema.GroupVersionKind, uid string) runtime.Object {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetGroupVersionKind(gvk)
		o.SetName("a")
		o.SetUID(types.UID(uid))
		return o
	}
	for _, test := range []struct {
		name   string
		stored []runtime.Object
		want   Answer
	}{
		{"it was created in between", []runtime.Object{widget(v1, "a"), widget(v2, "a")}, Good},
		{"it was deleted in between", nil, NotAsked},
		{"it was replaced in between", []runtime.Object{widget(v1, "b"), widget(v2, "b")}, NotAsked},
		{"a version does not have it", []runtime.Object{widget(v2, "a")}, Bad},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
				map[schema.GroupVersionResource]string{
					{Group: "example.com", Version: "v1", Resource: "widgets"}: "WidgetList",
					{Group: "example.com", Version: "v2", Resource: "widgets"}: "WidgetList",
				}, test.stored...)
			a := &Target{GVK: v1, Name: "a", UID: "a"}
			found := observationOf(nil)
			found.serve(v1)
			found.add(v2, "a", "", nil)
			found.targets = []*Target{a}
			found.recheck(t.Context(), client)
			if got := found.readIn(a, "v1"); got.Answer != test.want {
				t.Errorf("got %+v, want answer %d", got, test.want)
			}
			if got := found.readIn(a, "v2"); got.Answer != Good {
				t.Errorf("the version that has it: %+v", got)
			}
		})
	}
}
