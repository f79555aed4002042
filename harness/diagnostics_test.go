package harness

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Of the cluster-scoped objects of a borrowed cluster, a report contains only those of the run.
func TestWrittenBy(t *testing.T) {
	object := func(name string, managers ...string) unstructured.Unstructured {
		var o unstructured.Unstructured
		o.SetName(name)
		var entries []metav1.ManagedFieldsEntry
		for _, manager := range managers {
			entries = append(entries, metav1.ManagedFieldsEntry{Manager: manager})
		}
		o.SetManagedFields(entries)
		return o
	}
	left := writtenBy([]unstructured.Unstructured{
		object("ours", "controller", managersOf("abc")+"12-step"), object("of the user", "kubectl"),
		object("of another run", managersOf("abcd")+"12-step"), object("of nobody"),
	}, managersOf("abc"))
	if len(left) != 1 || left[0].GetName() != "ours" {
		t.Errorf("left %v", left)
	}
}
