package served

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// origins are the possible sources of custom kinds. A kind is served only some time after its installation.
type origins struct {
	// defined are the kinds of each CustomResourceDefinition that the track has written, by its name. fresh are the
	// kinds whose current definition may be unknown to the API servers.
	defined map[string][]schema.GroupVersionKind
	fresh   map[schema.GroupVersionKind]bool
	// services are the versions of the APIServices that the track has written, by their names.
	services map[string]schema.GroupVersion
	// more says that a program, a system or a restart may bring kinds that are unknown here.
	more bool
}

// IsCustom reports whether an API is not one of Kubernetes' own.
func IsCustom(apiVersion string) bool {
	group, _, _ := strings.Cut(apiVersion, "/")
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

func newOrigins() origins {
	return origins{
		defined: map[string][]schema.GroupVersionKind{}, fresh: map[schema.GroupVersionKind]bool{},
		services: map[string]schema.GroupVersion{},
	}
}

var (
	definitions = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
	services    = schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}
	// Definitions is the resource of CustomResourceDefinitions.
	Definitions = definitions.WithVersion("v1").GroupVersion().WithResource("customresourcedefinitions")
)

// ExpectMore records that something may bring custom kinds: a program, a system, or an API server that starts.
func (k *Kinds) ExpectMore() {
	k.all.each(func(one *Kinds) {
		one.mu.Lock()
		defer one.mu.Unlock()
		one.more = true
	})
}

// Wrote records a written object, which may define kinds. Each API server of the cluster may know it a moment later.
func (k *Kinds) Wrote(object *unstructured.Unstructured) {
	k.all.each(func(one *Kinds) { one.wrote(object) })
}

func (k *Kinds) wrote(object *unstructured.Unstructured) {
	k.mu.Lock()
	defer k.mu.Unlock()
	group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
	switch object.GroupVersionKind().GroupKind() {
	case definitions:
		kinds := kindsDefined(object, group)
		affected := slices.Concat(k.defined[object.GetName()], kinds) // also those that are no longer served
		k.defined[object.GetName()] = kinds
		for _, gvk := range affected {
			k.fresh[gvk] = true
			delete(k.known, gvk)
		}
	case services:
		v, _, _ := unstructured.NestedString(object.Object, "spec", "version")
		k.services[object.GetName()] = schema.GroupVersion{Group: group, Version: v}
	}
}

// Removed records a deleted object, which may have defined kinds.
func (k *Kinds) Removed(kind schema.GroupKind, name string) {
	k.all.each(func(one *Kinds) { one.removed(kind, name) })
}

func (k *Kinds) removed(kind schema.GroupKind, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch kind {
	case definitions:
		for _, gvk := range k.defined[name] {
			delete(k.known, gvk)
		}
		delete(k.defined, name)
	case services:
		delete(k.services, name)
	}
}

func kindsDefined(definition *unstructured.Unstructured, group string) []schema.GroupVersionKind {
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	var kinds []schema.GroupVersionKind
	for _, v := range versions {
		if v, ok := v.(map[string]any); ok && v["served"] == true {
			name, _ := v["name"].(string)
			kinds = append(kinds, schema.GroupVersionKind{Group: group, Version: name, Kind: kind})
		}
	}
	return kinds
}

// mayBring reports whether something on the track may have defined the kind.
func (o *origins) mayBring(gvk schema.GroupVersionKind) bool {
	if !MayBeCustom(gvk.Group) {
		return false
	}
	for _, kinds := range o.defined {
		if slices.Contains(kinds, gvk) {
			return true
		}
	}
	for _, service := range o.services {
		if service == gvk.GroupVersion() {
			return true
		}
	}
	return o.more
}

// MayBeCustom reports whether the group may belong to a CustomResourceDefinition or to another API server. The groups
// of Kubernetes itself are served from the start. Unlike IsCustom, it includes groups such as snapshot.storage.k8s.io.
func MayBeCustom(group string) bool {
	return strings.Contains(group, ".") && !scheme.Scheme.IsGroupRegistered(group) && group != definitions.Group &&
		group != services.Group
}

// IsFresh reports whether an API server may not know the current definition of a kind yet.
func (k *Kinds) IsFresh(gvk schema.GroupVersionKind) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.fresh[gvk]
}

// Settle records that an API server uses the kind's current definition.
func (k *Kinds) Settle(gvk schema.GroupVersionKind) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.fresh, gvk)
}
