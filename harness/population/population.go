// Package population lists the objects of a cluster, to find those that are created during a run.
package population

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"

	"github.com/rehearse-dev/rehearse/harness/inventory"
)

// atOnce is the number of kinds that are listed at once.
const atOnce = 8

// Object is a stored object.
type Object struct {
	Resource        schema.GroupVersionResource
	Kind            string
	Namespace, Name string
	UID             types.UID
	Labels          map[string]string
	// owned says that it is deleted with its owner.
	owned bool
}

// String is "Kind namespace/name".
func (o Object) String() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// Names lists the names of objects in one line: the first ones, and the number of the others. If most is 0, it lists
// all.
func Names(objects []Object, most int) string {
	more := ""
	if most > 0 && len(objects) > most {
		more = fmt.Sprintf(" and %d more", len(objects)-most)
		objects = objects[:most]
	}
	var names []string
	for _, object := range objects {
		names = append(names, object.String())
	}
	return strings.Join(names, ", ") + more
}

// Population is all objects of a cluster at one time.
type Population struct {
	objects map[types.UID]Object
	// unseen are the whole groups, and the single resources, that could not be listed, with the errors.
	unseen map[schema.GroupResource]error
}

// Unseen returns what could not be listed, one line each.
func (p *Population) Unseen() []string {
	var all []string
	for resource, err := range p.unseen {
		all = append(all, fmt.Sprintf("%s: %v", strings.TrimPrefix(resource.String(), "."), err))
	}
	slices.Sort(all)
	return all
}

// sees reports whether objects of a resource could be listed.
func (p *Population) sees(resource schema.GroupResource) bool {
	_, whole := p.unseen[schema.GroupResource{Group: resource.Group}]
	_, one := p.unseen[resource]
	return !whole && !one
}

// Take lists the metadata of all objects, except events and objects that Kubernetes derives from others. It returns
// an error if the cluster does not answer. Kinds that cannot be listed are in Unseen.
func Take(ctx context.Context, config *rest.Config) (*Population, error) {
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{}
	found, err1 := discovery.NewDiscoveryClientForConfig(config)
	client, err2 := metadata.NewForConfig(config)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	p := &Population{objects: map[types.UID]Object{}, unseen: map[schema.GroupResource]error{}}
	served, err := inventory.Discover(found)
	if err != nil {
		return nil, err
	}
	for gv, err := range served.Undiscovered {
		p.unseen[schema.GroupResource{Group: gv.Group}] = err
	}
	var mu sync.Mutex
	var listing sync.WaitGroup
	room := make(chan struct{}, atOnce)
	for _, r := range listed(served.Lists) {
		room <- struct{}{}
		listing.Go(func() {
			defer func() { <-room }()
			objects, err := list(ctx, client, r)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				p.unseen[r.resource.GroupResource()] = err
			}
			maps.Copy(p.objects, objects)
		})
	}
	listing.Wait()
	return p, ctx.Err()
}

// kind is a kind that can be listed.
type kind struct {
	resource schema.GroupVersionResource
	name     string
}

// listed returns the kinds whose objects are stored, each once, in its preferred version.
func listed(lists []*metav1.APIResourceList) []kind {
	// Events are many and expire. Endpoints and component statuses are derived from others.
	derived := []string{"events", "endpoints", "componentstatuses"}
	var all []kind
	taken := map[schema.GroupResource]bool{}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil || gv.Group == "metrics.k8s.io" {
			continue
		}
		for _, r := range list.APIResources {
			if !strings.Contains(r.Name, "/") && slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "delete") &&
				!slices.Contains(derived, r.Name) && !taken[schema.GroupResource{Group: gv.Group, Resource: r.Name}] {
				taken[schema.GroupResource{Group: gv.Group, Resource: r.Name}] = true
				all = append(all, kind{gv.WithResource(r.Name), r.Kind})
			}
		}
	}
	return all
}

func list(ctx context.Context, client metadata.Interface, k kind) (map[types.UID]Object, error) {
	objects := map[types.UID]Object{}
	pages := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return client.Resource(k.resource).List(ctx, o)
	})
	err := pages.EachListItem(ctx, metav1.ListOptions{}, func(item runtime.Object) error {
		if m, ok := item.(*metav1.PartialObjectMetadata); ok && m.UID != "" {
			objects[m.UID] = Object{k.resource, k.name, m.Namespace, m.Name, m.UID, m.Labels, len(m.OwnerReferences) > 0}
		}
		return nil
	})
	return objects, err
}

// Since returns the objects that did not exist before, sorted. It leaves out objects that are deleted with their
// owner or with a new namespace. It also leaves out skipped namespaces with their objects.
func (p *Population) Since(before *Population, skip func(namespace string) bool) []Object {
	isNamespace := func(o Object) bool { return o.Resource.Group == "" && o.Resource.Resource == "namespaces" }
	fresh := map[string]bool{}
	var all []Object
	for uid, object := range p.objects {
		if _, old := before.objects[uid]; old || object.owned || !before.sees(object.Resource.GroupResource()) {
			continue
		}
		if isNamespace(object) {
			fresh[object.Name] = true
		}
		all = append(all, object)
	}
	all = slices.DeleteFunc(all, func(o Object) bool {
		return fresh[o.Namespace] || skip(o.Namespace) || isNamespace(o) && skip(o.Name)
	})
	slices.SortFunc(all, func(a, b Object) int {
		return strings.Compare(a.Kind+" "+a.Namespace+"/"+a.Name, b.Kind+" "+b.Namespace+"/"+b.Name)
	})
	return all
}
