package objects

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// An object that is applied in a newer API version is still the same object.
func TestReferenceOfAnotherVersion(t *testing.T) {
	old := Reference{Kind: schema.GroupKind{Group: "x.io", Kind: "Thing"}, Version: "v1beta1", Name: "a"}
	newer := old
	newer.Version = "v1"
	list := Add(Add(nil, old), newer)
	if len(list) != 1 || list[0] != newer || !old.Same(newer) {
		t.Errorf("%v", list)
	}
}
