package fields

import (
	"context"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/rehearse-dev/rehearse/harness/inventory"
	"github.com/rehearse-dev/rehearse/harness/openapi"
)

// Kind is one kind in one version.
type Kind struct {
	schema.GroupVersionKind
	// Resource is the plural name, as in paths.
	Resource   string
	Namespaced bool
	// Preferred says that this is the API server's preferred version of the kind.
	Preferred bool
	// Status and Scale report whether these subresources can be written.
	Status, Scale bool
	// Root has all fields that can be set when an object is created.
	Root *Field
	// State is the status; nil if the kind has no writable status.
	State *Field
}

// Path is the URL path of the kind's objects in a namespace.
func (k *Kind) Path(namespace string) string {
	path := "/apis/" + k.Group + "/" + k.Version
	if k.Group == "" {
		path = "/api/" + k.Version
	}
	if k.Namespaced {
		path += "/namespaces/" + namespace
	}
	return path + "/" + k.Resource
}

// ID identifies the kind and version, such as Ingress.v1.networking.k8s.io.
func (k *Kind) ID() string {
	if k.Group == "" {
		return k.Kind + "." + k.Version
	}
	return k.Kind + "." + k.Version + "." + k.Group
}

// Kinds lists all kinds whose objects can be created and listed, sorted by name.
func Kinds(ctx context.Context, client discovery.DiscoveryInterface) ([]*Kind, error) {
	served, err := inventory.Discover(client)
	if err != nil {
		return nil, err
	}
	preferred := map[schema.GroupKind]string{}
	var kinds []*Kind
	for _, list := range served.Lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		var found []*Kind
		for i := range list.APIResources {
			if k := kindOf(gv, list.APIResources[i], list.APIResources); k != nil {
				found = append(found, k)
			}
		}
		if len(found) == 0 {
			continue
		}
		document, err := openapi.Fetch(ctx, client.RESTClient(), gv)
		if err != nil {
			return nil, err
		}
		for _, k := range found {
			name, root := document.Kind(k.GroupVersionKind)
			if root == nil {
				continue
			}
			k.Root = tree(document, name, root)
			if k.Status {
				k.State = status(document, name, root)
			}
			if preferred[k.GroupKind()] == "" {
				preferred[k.GroupKind()] = k.Version
			}
			k.Preferred = preferred[k.GroupKind()] == k.Version
			kinds = append(kinds, k)
		}
	}
	slices.SortStableFunc(kinds, func(a, b *Kind) int {
		switch {
		case a.Preferred != b.Preferred && a.Preferred:
			return -1
		case a.Preferred != b.Preferred:
			return 1
		case a.ID() < b.ID():
			return -1
		}
		return 1
	})
	return kinds, nil
}

// WithState is the kind with the status as one of its fields.
func (k *Kind) WithState() *Kind {
	with, root := *k, *k.Root
	root.Children = append(slices.Clone(root.Children), k.State)
	with.Root = &root
	return &with
}

func kindOf(gv schema.GroupVersion, r metav1.APIResource, all []metav1.APIResource) *Kind {
	if !slices.Contains(r.Verbs, "create") || !slices.Contains(r.Verbs, "list") || r.Group != "" && r.Group != gv.Group {
		return nil
	}
	k := &Kind{GroupVersionKind: gv.WithKind(r.Kind), Resource: r.Name, Namespaced: r.Namespaced}
	for _, sub := range all {
		k.Status = k.Status || sub.Name == r.Name+"/status" && slices.Contains(sub.Verbs, "update")
		k.Scale = k.Scale || sub.Name == r.Name+"/scale" && slices.Contains(sub.Verbs, "update")
	}
	return k
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
