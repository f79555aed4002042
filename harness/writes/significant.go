package writes

import (
	"maps"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// significant returns what of a sent object must be in the returned object. It leaves out: nulls; the directives of a
// strategic merge patch; what the API server alone decides (identity, and metadata like uid and managedFields); and
// empty values (false, 0, "", {}, []) that an API server need not distinguish from absent ones.
func significant(sent, got map[string]any) map[string]any {
	apiVersion, _ := got["apiVersion"].(string)
	kind, _ := got["kind"].(string)
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	kept, _ := pruned(sent, encoded(gvk, sent), encoded(gvk, bare(sent))).(map[string]any)
	kept = without(kept, "apiVersion", "kind")
	if metadata, ok := kept["metadata"].(map[string]any); ok {
		kept["metadata"] = without(metadata, ownMetadata()...)
	}
	if gvk == (schema.GroupVersionKind{Version: "v1", Kind: "Endpoints"}) {
		kept = without(kept, "subsets") // they are merged and split again
	}
	return kept
}

// ownMetadata are the fields of metadata that the API server decides, and those that name the object.
func ownMetadata() []string {
	return []string{
		"name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds", "selfLink",
		"managedFields",
	}
}

// encoded returns an object as the types of its kind write it, which shows the empty values that are kept; nil if the
// kind has no types here, such as a custom one.
func encoded(gvk schema.GroupVersionKind, object map[string]any) map[string]any {
	typed, err := kubernetesTypes().New(gvk)
	if err != nil {
		return nil
	}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(object, typed) != nil {
		return nil
	}
	written, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return nil
	}
	return written
}

// kubernetesTypes are the types of the kinds that Kubernetes itself serves.
var kubernetesTypes = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err) // two types of one kind: a mistake in the libraries
		}
	}
	return scheme
})

// bare returns a value without its empty values. Elements of lists stay, so that their indexes do.
func bare[V any](value V) V {
	var next any = value
	switch value := any(value).(type) {
	case map[string]any:
		fields := map[string]any{}
		for key, field := range value {
			if !empty(field) {
				fields[key] = bare(field)
			}
		}
		next = fields
	case []any:
		elements := make([]any, len(value))
		for i := range value {
			elements[i] = bare(value[i])
		}
		next = elements
	}
	bared, _ := next.(V)
	return bared
}

// empty reports whether an encoder may leave out a value.
func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return value == false || value == "" || value == int64(0) || value == float64(0)
}

// pruned returns a value without what an API server need not keep; nil if nothing is left. An empty value counts only
// if its type keeps it (kept) and does not write it when it was not sent (unsent). Elements of lists stay, so that
// their indexes do.
func pruned(sent, kept, unsent any) any {
	if empty(sent) && (sent == nil || kept == nil || unsent != nil) {
		return nil
	}
	switch value := sent.(type) {
	case map[string]any:
		if len(value) == 0 {
			return value
		}
		keptFields, _ := kept.(map[string]any)
		unsentFields, _ := unsent.(map[string]any)
		next := map[string]any{}
		for key, field := range value {
			if strings.HasPrefix(key, "$") {
				continue
			}
			if field = pruned(field, keptFields[key], unsentFields[key]); field != nil {
				next[key] = field
			}
		}
		if len(next) == 0 {
			return nil
		}
		return next
	case []any:
		if len(value) == 0 {
			return value
		}
		return prunedList(value, kept, unsent)
	}
	return sent
}

func prunedList(sent []any, kept, unsent any) any {
	keptElements, _ := kept.([]any)
	unsentElements, _ := unsent.([]any)
	next := []any{}
	for i, element := range sent {
		fields, isMap := element.(map[string]any)
		if isMap && fields["$patch"] != nil {
			continue
		}
		switch smaller := pruned(element, at(keptElements, i), at(unsentElements, i)); {
		case smaller != nil:
			next = append(next, smaller)
		case isMap:
			next = append(next, map[string]any{})
		default:
			next = append(next, element)
		}
	}
	if len(next) == 0 {
		return nil
	}
	return next
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func with(object map[string]any, key string, value any) map[string]any {
	next := maps.Clone(object)
	next[key] = value
	return next
}

func without(object map[string]any, keys ...string) map[string]any {
	next := maps.Clone(object)
	for _, key := range keys {
		delete(next, key)
	}
	return next
}
