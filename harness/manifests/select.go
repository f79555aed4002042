package manifests

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Selection selects objects. An entry is a kind ("Deployment", "deployment.apps"), a namespace ("shop/"), or a kind
// in a namespace ("shop/Deployment").
type Selection struct {
	// Only these objects. Default: all.
	Only []string
	// Except these objects.
	Except []string
	// Namespace of the namespaced objects that name none. Default: they are in no namespace.
	Namespace string
}

// Has reports whether an object is selected.
func (s Selection) Has(o *Object) bool {
	about := func(entry string) bool { return s.selects(entry, o) }
	return (len(s.Only) == 0 || slices.ContainsFunc(s.Only, about)) && !slices.ContainsFunc(s.Except, about)
}

// Of returns the selected objects. An entry that selects nothing is an error.
func (s Selection) Of(objects []*Object) ([]*Object, error) {
	kept := slices.DeleteFunc(slices.Clone(objects), func(o *Object) bool { return !s.Has(o) })
	for _, entry := range slices.Concat(s.Only, s.Except) {
		if slices.ContainsFunc(objects, func(o *Object) bool { return s.selects(entry, o) }) {
			continue
		}
		if namespace, kind := divided(entry); namespace != "" {
			return nil, fmt.Errorf("no object is of %q; there are these namespaces: %s", entry,
				strings.Join(s.namespacesOf(objects, kind), ", "))
		}
		return nil, fmt.Errorf("no object is of kind %q; there are: %s", entry, strings.Join(kindsOf(objects), ", "))
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("none of %d objects is left", len(objects))
	}
	return kept, nil
}

// Wants reports whether objects of a resource ("deployments.apps") may be selected.
func (s Selection) Wants(resource string) bool {
	about := func(entry string) bool { return concerns(entry, resource) }
	if len(s.Only) > 0 && !slices.ContainsFunc(s.Only, about) {
		return false
	}
	return !slices.ContainsFunc(s.Except, func(entry string) bool {
		namespace, _ := divided(entry)
		return namespace == "" && about(entry)
	})
}

// WantsIn reports whether objects of a resource ("deployments.apps") or a kind ("Deployment.apps") are selected in a
// namespace; "" for cluster-scoped ones.
func (s Selection) WantsIn(namespace, resource string) bool {
	about := func(entry string) bool {
		in, _ := divided(entry)
		return (in == "" || in == namespace) && concerns(entry, resource)
	}
	return (len(s.Only) == 0 || slices.ContainsFunc(s.Only, about)) && !slices.ContainsFunc(s.Except, about)
}

// concerns reports whether an entry is about a resource or a kind, in some namespace.
func concerns(entry, resource string) bool {
	_, kind := divided(entry)
	name, group, grouped := strings.Cut(kind, ".")
	plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: strings.ToLower(name)})
	has, of, _ := strings.Cut(resource, ".")
	return kind == "" || (plural.Resource == has || strings.EqualFold(name, has)) &&
		(!grouped || strings.EqualFold(group, of))
}

// divided returns the namespace and the kind of an entry; "" for any.
func divided(entry string) (namespace, kind string) {
	namespace, kind, found := strings.Cut(entry, "/")
	if !found {
		return "", entry
	}
	return namespace, kind
}

func (s Selection) selects(entry string, o *Object) bool {
	namespace, kind := divided(entry)
	return (namespace == "" || namespace == s.namespaceOf(o)) && (kind == "" || Means(kind, o.GVK().GroupKind()))
}

// namespaceOf is the namespace that an object will be in. A custom resource that names none counts as namespaced.
func (s Selection) namespaceOf(o *Object) string {
	namespace := o.Content.GetNamespace()
	if namespace == "" && s.Namespace != "" && !ClusterScoped()[o.GVK().GroupKind()] {
		return s.Namespace
	}
	return namespace
}

// Means reports whether a name ("Deployment", "deployment.apps") means a kind.
func Means(name string, kind schema.GroupKind) bool {
	return strings.EqualFold(name, kind.Kind) || strings.EqualFold(name, kind.String())
}

// namespacesOf lists the namespaces of the objects of a kind; "" is any kind.
func (s Selection) namespacesOf(objects []*Object, kind string) []string {
	var all []string
	for _, o := range objects {
		if namespace := s.namespaceOf(o); namespace != "" && s.selects(kind, o) {
			all = append(all, namespace)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// kindsOf lists the kinds of objects, each once, sorted.
func kindsOf(objects []*Object) []string {
	var kinds []string
	for _, o := range objects {
		kinds = append(kinds, o.GVK().GroupKind().String())
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// Counts returns the number of objects of each kind: "3 ConfigMap, 1 Deployment.apps".
func Counts(objects []*Object) string {
	numbers := map[string]int{}
	for _, o := range objects {
		numbers[o.GVK().GroupKind().String()]++
	}
	var parts []string
	for _, kind := range kindsOf(objects) {
		parts = append(parts, fmt.Sprintf("%d %s", numbers[kind], kind))
	}
	return strings.Join(parts, ", ")
}
