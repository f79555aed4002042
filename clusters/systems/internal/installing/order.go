package installing

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/webhooks"
)

// foundations are the objects that others need: namespaces and CRDs.
func foundations(manifests []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(manifests), func(o *unstructured.Unstructured) bool { return !goesFirst(o) })
}

// others are all other objects, webhook configurations last: a webhook that is not served yet could block the system's
// own pods.
func others(manifests []*unstructured.Unstructured) []*unstructured.Unstructured {
	all := slices.DeleteFunc(slices.Clone(manifests), goesFirst)
	slices.SortStableFunc(all, func(a, b *unstructured.Unstructured) int {
		switch {
		case webhooks.IsConfiguration(a) == webhooks.IsConfiguration(b):
			return 0
		case webhooks.IsConfiguration(a):
			return 1
		}
		return -1
	})
	return all
}

func goesFirst(o *unstructured.Unstructured) bool {
	kind := o.GroupVersionKind().GroupKind()
	return kind == objects.CRDKind || kind.Group == "" && kind.Kind == "Namespace"
}
