package writes

import (
	"cmp"
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// strangers are objects of which nobody can tell who wrote them: some API servers keep no managed fields. One that was
// there before a creation is not what the creation made; of one that came meanwhile this is unknown.
type strangers map[string]bool

// identified is the object itself, and not only its name, where it has a UID.
func identified(object *unstructured.Unstructured) string {
	return cmp.Or(string(object.GetUID()), object.GetNamespace()+"/"+object.GetName())
}

// add takes note of an object, if it is one.
func (s strangers) add(object *unstructured.Unstructured) {
	if len(object.GetManagedFields()) == 0 {
		s[identified(object)] = true
	}
}

// isNew says whether the object is a stranger that is not among these.
func (s strangers) isNew(object *unstructured.Unstructured) bool {
	return len(object.GetManagedFields()) == 0 && !s[identified(object)]
}

// strange says of a new one why it is in doubt.
func strange(object *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s did not exist before, and has no managed fields that show who created it",
		object.GetKind(), object.GetName())
}

// lookForStrangers looks for those that a creation's own object could be taken for.
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
