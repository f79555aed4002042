package writes

import (
	"cmp"
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// strangers are objects whose writer is unknown: some API servers keep no managed fields. A creation did not make one
// that existed before it. For one that appeared meanwhile this is unknown.
type strangers map[string]bool

// identified returns the UID of the object, or its name if it has none.
func identified(object *unstructured.Unstructured) string {
	return cmp.Or(string(object.GetUID()), object.GetNamespace()+"/"+object.GetName())
}

// add notes an object, if it is a stranger.
func (s strangers) add(object *unstructured.Unstructured) {
	if len(object.GetManagedFields()) == 0 {
		s[identified(object)] = true
	}
}

// isNew reports whether the object is a stranger that is not among these.
func (s strangers) isNew(object *unstructured.Unstructured) bool {
	return len(object.GetManagedFields()) == 0 && !s[identified(object)]
}

// strange explains why a new stranger is in doubt.
func strange(object *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s did not exist before, and has no managed fields that show who created it",
		object.GetKind(), object.GetName())
}

// lookForStrangers finds the strangers that a creation's own object could be mistaken for.
func (o *operation) lookForStrangers(ctx context.Context, api dynamic.ResourceInterface) (strangers, error) {
	there := strangers{}
	if o.name != "" {
		object, err := o.look(ctx, api)
		if object != nil {
			there.add(object)
		}
		return there, err
	}
	list, err := api.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		there.add(&list.Items[i])
	}
	return there, nil
}
