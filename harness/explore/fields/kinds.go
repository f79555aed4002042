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

// Found is what an API server serves.
type Found struct {
	// Kinds whose objects can be created and listed, sorted by name.
	Kinds []*Kind
	// Bare are such kinds without a schema, so their fields are not known. The schema of a new kind appears with a delay.
	Bare []*Kind
	// Undiscovered are the versions whose kinds the API server could not list, and why.
	Undiscovered map[schema.GroupVersion]error
}

// Complete reports whether all kinds and their fields are known.
func (f Found) Complete() bool { return len(f.Bare)+len(f.Undiscovered) == 0 }

// Kinds lists what an API server serves.
func Kinds(ctx context.Context, client discovery.DiscoveryInterface) (Found, error) {
	served, err := inventory.Discover(client)
	if err != nil {
		return Found{}, err
	}
	all := Found{Undiscovered: served.Undiscovered}
	for _, list := range served.Lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		var kinds []*Kind
		for i := range list.APIResources {
			if k := kindOf(gv, list.APIResources[i], list.APIResources); k != nil {
				kinds = append(kinds, k)
			}
		}
		if len(kinds) == 0 {
			continue
		}
		document, err := openapi.Fetch(ctx, client.RESTClient(), gv)
		if err != nil {
			return Found{}, err
		}
		all.read(document, kinds)
	}
	all.sort()
	return all, nil
}

// read adds the kinds of one version, with their fields.
func (f *Found) read(document openapi.Document, kinds []*Kind) {
	for _, k := range kinds {
		name, root := document.Kind(k.GroupVersionKind)
		if root == nil {
			f.Bare = append(f.Bare, k)
			continue
		}
		k.Root = tree(document, name, root)
		if k.Status {
			k.State = status(document, name, root)
		}
		f.Kinds = append(f.Kinds, k)
	}
}

// sort sorts the kinds. The first version of a kind is the preferred one.
func (f *Found) sort() {
	preferred := map[schema.GroupKind]string{}
	for _, k := range f.Kinds {
		if preferred[k.GroupKind()] == "" {
			preferred[k.GroupKind()] = k.Version
		}
		k.Preferred = preferred[k.GroupKind()] == k.Version
	}
	slices.SortStableFunc(f.Kinds, func(a, b *Kind) int {
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
