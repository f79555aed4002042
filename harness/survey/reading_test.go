package survey

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/inventory"
)

// If the list of a kind fails because one object cannot be converted, only that object is to blame.
func TestReadIn(t *testing.T) {
	failed := apierrors.NewInternalError(errors.New("conversion webhook failed"))
	object := map[string]*unstructured.Unstructured{"a": {}}
	for _, test := range []struct {
		name  string
		list  list
		want  Answer
		words string
	}{
		{"it is in the list", list{objects: object}, Good, ""},
		{"it was deleted", list{}, NotAsked, ""},
		{"it alone cannot be read", list{err: failed, singly: map[string]error{"a": failed}}, Bad, "it cannot be read as v1"},
		{
			"another object cannot be read",
			list{objects: object, err: failed, singly: map[string]error{"b": failed}},
			Good, "",
		},
		{
			"the list fails, and each object can be read",
			list{objects: object, err: failed},
			Bad, "objects of kind Service cannot be listed as v1: ",
		},
		{"nobody answers", list{err: errors.New("connection refused")}, Unknown, "connection refused"},
	} {
		found := &observation{
			Inventory: inventory.Inventory{Kinds: map[schema.GroupKind]*inventory.Kind{{Kind: "Service"}: {Versions: []string{"v1"}}}},
			lists:     map[schema.GroupVersionKind]list{{Version: "v1", Kind: "Service"}: test.list},
		}
		got := found.readIn(given("a"), "v1")
		if got.Answer != test.want || !strings.Contains(got.Words, test.words) {
			t.Errorf("%s: got %v %q, want %v %q", test.name, got.Answer, got.Words, test.want, test.words)
		}
	}
}
