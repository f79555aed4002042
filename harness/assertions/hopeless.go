package assertions

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// hopeless returns why the assertion can never become true any more; "" if it can, or if that is not proved. It is
// proved only for one object that must have a certain uid: the uid of a deleted object never returns, a deletion is
// not taken back, and a generation does not decrease.
func (w *explainer) hopeless() string {
	uid, pinned, err := unstructured.NestedString(w.assertion.Match, "metadata", "uid")
	if w.scope.Name == "" || w.assertion.Absent || w.assertion.Count != nil || !pinned || err != nil || uid == "" {
		return ""
	}
	kind := fmt.Sprintf("%s %s", w.assertion.Kind, w.scope.Name)
	if len(w.candidates) == 0 {
		return fmt.Sprintf("It can no longer become true: %s with the uid %s is gone.", kind, uid)
	}
	for _, c := range w.candidates {
		if c.object == nil || string(c.object.GetUID()) == "" {
			return ""
		}
		if other := c.object.GetUID(); string(other) != uid {
			return fmt.Sprintf("It can no longer become true: %s with the uid %s is gone, and another with the uid "+
				"%s has its name.", kind, uid, other)
		}
		if c.object.GetDeletionTimestamp() != nil && wantsNoDeletion(w.assertion.Match) {
			return fmt.Sprintf("It cannot become true any more: %s is being deleted, and that is not taken back.", kind)
		}
		wanted, pinned, err := unstructured.NestedInt64(w.assertion.Match, "metadata", "generation")
		if have := c.object.GetGeneration(); pinned && err == nil && have > wanted {
			return fmt.Sprintf("It can no longer become true: the generation of %s is %d already, and does not fall.",
				kind, have)
		}
	}
	return ""
}

// wantsNoDeletion reports whether the object must have no deletionTimestamp.
func wantsNoDeletion(match map[string]any) bool {
	value, asked, err := unstructured.NestedFieldNoCopy(match, "metadata", "deletionTimestamp")
	return asked && err == nil && value == nil
}
