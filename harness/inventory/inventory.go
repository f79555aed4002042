// Package inventory reads which kinds an API server serves, and the objects of a kind.
package inventory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/writes"
)

// Kind is how an API server serves a kind whose objects can be listed.
type Kind struct {
	// Resource is its name in URL paths.
	Resource   string
	Namespaced bool
	// Versions in the API server's order of preference.
	Versions []string
	// Updatable: its objects can be updated.
	Updatable bool
	// StatusIn are the versions in which their status can be updated, with a subresource.
	StatusIn []string
	// Scalable: they can be scaled, with a subresource. Evictable: they can be evicted.
	Scalable, Evictable bool
}

// In is the resource in a group and version.
func (k *Kind) In(group, version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: k.Resource}
}

// Served is what an API server serves, as it reports.
type Served struct {
	// Lists are the resources of each version, group by group. The versions of a group are in its order of preference.
	Lists []*metav1.APIResourceList
	// Undiscovered are the versions whose resources the API server could not list, and why.
	Undiscovered map[schema.GroupVersion]error
}

// Discover asks an API server what it serves, without retries.
func Discover(server discovery.DiscoveryInterface) (Served, error) {
	groups, lists, err := server.ServerGroupsAndResources()
	undiscovered, partly := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !partly {
		return Served{}, fmt.Errorf("ask the API server which kinds it serves: %w", err)
	}
	order := map[string]int{}
	for _, group := range groups {
		for _, version := range group.Versions {
			order[version.GroupVersion] = len(order)
		}
	}
	slices.SortStableFunc(lists,
		func(a, b *metav1.APIResourceList) int {
			return cmp.Compare(order[a.GroupVersion], order[b.GroupVersion])
		})
	return Served{Lists: lists, Undiscovered: undiscovered}, nil
}

// Inventory is what an API server serves, by kinds.
type Inventory struct {
	Kinds map[schema.GroupKind]*Kind
	// Undiscovered are groups whose kinds the API server could not list, and why.
	Undiscovered map[string]error
}

// Take asks an API server what it serves.
func Take(ctx context.Context, server discovery.DiscoveryInterface) (Inventory, error) {
	all := Inventory{Kinds: map[schema.GroupKind]*Kind{}, Undiscovered: map[string]error{}}
	var served Served
	_, err := writes.Persist(ctx, func(context.Context) error {
		var err error
		served, err = Discover(server)
		return err
	})
	if err != nil {
		return Inventory{}, err
	}
	for gv, cause := range served.Undiscovered {
		all.Undiscovered[gv.Group] = cause
	}
	for _, list := range served.Lists {
		all.add(list)
	}
	return all, nil
}

func (i Inventory) add(list *metav1.APIResourceList) {
	gv, err := schema.ParseGroupVersion(list.GroupVersion)
	if err != nil {
		return
	}
	names := map[string]*Kind{}
	for _, r := range list.APIResources {
		if !slices.Contains(r.Verbs, "list") {
			continue
		}
		group := schema.GroupKind{Group: gv.Group, Kind: r.Kind}
		kind := i.Kinds[group]
		if kind == nil {
			kind = &Kind{Resource: r.Name, Namespaced: r.Namespaced, Updatable: slices.Contains(r.Verbs, "update")}
			i.Kinds[group] = kind
		}
		kind.Versions = append(kind.Versions, gv.Version)
		names[r.Name] = kind
	}
	for _, r := range list.APIResources {
		name, subresource, _ := strings.Cut(r.Name, "/")
		kind := names[name]
		if kind == nil {
			continue
		}
		switch {
		case subresource == "status" && slices.Contains(r.Verbs, "update"):
			kind.StatusIn = append(kind.StatusIn, gv.Version)
		case subresource == "scale" && slices.Contains(r.Verbs, "update"):
			kind.Scalable = true
		case subresource == "eviction" && slices.Contains(r.Verbs, "create"):
			kind.Evictable = true
		}
	}
}

// pageSize is the maximum number of objects in one answer of an API server.
const pageSize = 500

// List reads all objects of a resource, by uid.
func List(ctx context.Context, client dynamic.Interface,
	resource schema.GroupVersionResource,
) (map[string]*unstructured.Unstructured, error) {
	objects := map[string]*unstructured.Unstructured{}
	_, err := writes.Persist(ctx, func(ctx context.Context) error {
		clear(objects)
		options := metav1.ListOptions{Limit: pageSize}
		for {
			page, err := client.Resource(resource).List(ctx, options)
			if err != nil {
				return err
			}
			for i := range page.Items {
				objects[string(page.Items[i].GetUID())] = &page.Items[i]
			}
			if options.Continue = page.GetContinue(); options.Continue == "" {
				return nil
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return objects, nil
}
