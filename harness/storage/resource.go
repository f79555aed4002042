// Package storage knows the keys and the encodings with which Kubernetes stores objects in etcd.
package storage

import (
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Prefix of all keys.
const Prefix = "/registry/"

// Resource is the API resource of a kind in one version.
type Resource struct {
	Group      string `json:"group,omitempty"`
	Version    string `json:"version"`
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Namespaced bool   `json:"namespaced,omitempty"`
	// Custom says that a CustomResourceDefinition defines it.
	Custom bool `json:"custom,omitempty"`
}

// GroupResource returns the resource without its version.
func (r Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Name}
}

// GVR returns the resource with its version.
func (r Resource) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Name}
}

// old are the folders that do not have the name of their resource, most of them for historical reasons.
var old = map[schema.GroupResource]string{
	{Resource: "replicationcontrollers"}:                       "controllers",
	{Resource: "endpoints"}:                                    "services/endpoints",
	{Resource: "nodes"}:                                        "minions",
	{Resource: "services"}:                                     "services/specs",
	{Group: "networking.k8s.io", Resource: "ingresses"}:        "ingress",
	{Group: "events.k8s.io", Resource: "events"}:               "events",
	{Group: Extensions, Resource: "customresourcedefinitions"}: Extensions + "/customresourcedefinitions",
	{Group: Aggregation, Resource: "apiservices"}:              Aggregation + "/apiservices",
}

// The groups of the API servers that are built into kube-apiserver. They store JSON, in folders with the group's
// name.
const (
	Extensions  = "apiextensions.k8s.io"
	Aggregation = "apiregistration.k8s.io"
)

// folder returns the beginning of the keys of a resource, without Prefix and with a trailing slash.
func folder(r schema.GroupResource, custom bool) string {
	if custom {
		return r.Group + "/" + r.Resource + "/"
	}
	if folder, ok := old[r]; ok {
		return folder + "/"
	}
	return strings.ToLower(r.Resource) + "/"
}

// Key returns the key of a stored object.
func (r Resource) Key(namespace, name string) string {
	key := Prefix + folder(r.GroupResource(), r.Custom)
	if r.Namespaced {
		key += namespace + "/"
	}
	return key + name
}

// Named returns the resource of a key, and the name of its object: NAMESPACE/NAME or NAME.
func Named(key string) (r schema.GroupResource, name string) {
	key = strings.TrimPrefix(key, Prefix)
	for r, folder := range old {
		if name, ok := strings.CutPrefix(key, folder+"/"); ok {
			return r, name
		}
	}
	folder, rest, _ := strings.Cut(key, "/")
	if strings.Contains(folder, ".") { // the group of a custom resource
		resource, name, _ := strings.Cut(rest, "/")
		return schema.GroupResource{Group: folder, Resource: resource}, name
	}
	return schema.GroupResource{Group: groups()[folder], Resource: folder}, rest
}

// groups returns the groups of Kubernetes' own resources, which are not in their keys. A resource that moved from the
// group extensions is in its new one.
var groups = sync.OnceValue(func() map[string]string {
	found := map[string]string{}
	for kind := range scheme.Scheme.AllKnownTypes() {
		resource, _ := meta.UnsafeGuessKindToResource(kind)
		if group, known := found[resource.Resource]; !known || group == "extensions" {
			found[resource.Resource] = kind.Group
		}
	}
	return found
})
