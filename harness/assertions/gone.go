package assertions

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/history"
)

// mostGone is how many deleted objects a message describes.
const mostGone = 3

// gone describes when the missing objects were deleted, and by whom as far as that is known: the last first.
func (w *watcher) gone() string {
	last := map[string]history.Change{}
	requested := map[string]history.Change{}
	var order []string
	for _, change := range w.Stream.ChangesBetween(0, w.seq, w.scope) {
		key := change.Namespace + "/" + change.Name
		last[key] = change
		order = append(slices.DeleteFunc(order, func(other string) bool { return other == key }), key)
		switch object := change.Object; {
		case change.Type == history.Added:
			delete(requested, key)
		case object != nil && object.GetDeletionTimestamp() != nil && requested[key].Name == "":
			requested[key] = change
		}
	}
	slices.Reverse(order)
	order = slices.DeleteFunc(order, func(key string) bool { return last[key].Type != history.Deleted })
	var b strings.Builder
	for _, key := range order[:min(mostGone, len(order))] {
		b.WriteString(w.deletion(last[key], requested[key]) + "\n")
	}
	if more := len(order) - mostGone; more > 0 {
		fmt.Fprintf(&b, "... and %d more were deleted before.\n", more)
	}
	return b.String()
}

// deletion describes one deletion, which may have been requested some time before.
func (w *watcher) deletion(change, requested history.Change) string {
	text := fmt.Sprintf("%s was deleted at %s%s%s", change.Name, w.since(change.At), during(w.Steps, change.Seq),
		found(change))
	if requested.Name != "" && requested.Seq != change.Seq {
		text += fmt.Sprintf(", requested at %s%s", w.since(requested.At), during(w.Steps, requested.Seq))
	}
	if change.Object == nil {
		return text + "."
	}
	if why := conditionOf(change.Object, "DisruptionTarget"); why != nil {
		text += fmt.Sprintf(", because: %s", said(why))
	}
	if owner := controllerOf(change.Object); owner != nil {
		text += fmt.Sprintf("; its owner is %s %s", owner.Kind, owner.Name)
	}
	return text + "."
}

func controllerOf(object *unstructured.Unstructured) *metav1.OwnerReference {
	owners := object.GetOwnerReferences()
	if i := slices.IndexFunc(owners, func(o metav1.OwnerReference) bool {
		return o.Controller != nil &&
			*o.Controller
	}); i >= 0 {
		return &owners[i]
	}
	if len(owners) > 0 {
		return &owners[0]
	}
	return nil
}
