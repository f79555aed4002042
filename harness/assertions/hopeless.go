package assertions

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// pin is the one object that an assertion is about. The zero value pins none.
type pin struct {
	uid string
	// generation that the object must have; 0 for any.
	generation int64
}

// pinOf returns the uid and the generation that match or a condition of cel requires.
func pinOf(in Input) (p pin) {
	p.uid, _, _ = unstructured.NestedString(in.Assertion.Match, "metadata", "uid")
	p.generation, _, _ = unstructured.NestedInt64(in.Assertion.Match, "metadata", "generation")
	if in.Wants == nil || !strings.Contains(in.Assertion.CEL, "object.metadata.uid") {
		return p
	}
	if uid, ok := in.Wants(in.Assertion.CEL, "object.metadata.uid").(string); ok && p.uid == "" {
		p.uid = uid
	}
	if generation, ok := in.Wants(in.Assertion.CEL, "object.metadata.generation").(int64); ok && p.generation == 0 {
		p.generation = generation
	}
	return p
}

// hopeless returns why the assertion can no longer become true; "" if it can, or if that is not proved. It is proved
// only for one object that must have a certain uid: the uid of a deleted object never returns, a deletion cannot be
// undone, and a generation does not decrease.
func (w *explainer) hopeless() string {
	if w.scope.Name == "" || w.assertion.Absent || w.assertion.Count != nil || w.pin.uid == "" {
		return ""
	}
	kind := fmt.Sprintf("%s %s", w.assertion.Kind, w.scope.Name)
	gone := fmt.Sprintf("It can no longer become true: %s with the uid %s is gone", kind, w.pin.uid)
	var it *unstructured.Unstructured
	for _, c := range w.sorted() {
		switch {
		case c.object.GetUID() == "":
			return ""
		case string(c.object.GetUID()) == w.pin.uid:
			it = c.object
		default:
			gone = fmt.Sprintf("It can no longer become true: %s with the uid %s is gone, and another with the uid %s has "+
				"its name", kind, w.pin.uid, c.object.GetUID())
		}
	}
	switch {
	case it == nil:
		return gone + "."
	case it.GetDeletionTimestamp() != nil && wantsNoDeletion(w.assertion.Match):
		return fmt.Sprintf("It can no longer become true: %s is being deleted, and a deletion cannot be undone.", kind)
	case w.pin.generation > 0 && it.GetGeneration() > w.pin.generation:
		return fmt.Sprintf("It can no longer become true: the generation of %s is already %d, and does not decrease.",
			kind, it.GetGeneration())
	}
	return ""
}

// wantsNoDeletion reports whether the object must have no deletionTimestamp.
func wantsNoDeletion(match map[string]any) bool {
	value, asked, err := unstructured.NestedFieldNoCopy(match, "metadata", "deletionTimestamp")
	return asked && err == nil && value == nil
}
