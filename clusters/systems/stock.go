package systems

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
)

var (
	apiServiceKind     = schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}
	apiServiceResource = apiServiceKind.WithVersion("v1").GroupVersion().WithResource("apiservices")
	namespaceKind      = schema.GroupKind{Kind: "Namespace"}
	namespaceResource  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// stock lists the objects of the kinds that a simulator may create and that must be deleted with it: namespaces with
// their content, CustomResourceDefinitions and APIServices. The second list has those that it has applied itself. Only
// metadata is read, since the objects may be large.
func (a *api) stock(ctx context.Context, manager string) (all, own []reference, err error) {
	for _, part := range []struct {
		kind     schema.GroupKind
		resource schema.GroupVersionResource
	}{
		{namespaceKind, namespaceResource}, {crdKind, crdResource}, {apiServiceKind, apiServiceResource},
	} {
		list, err := a.metadata.Resource(part.resource).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue // an API server without aggregation
		}
		if err != nil {
			return nil, nil, fmt.Errorf("list %s: %w", part.resource.Resource, err)
		}
		for _, item := range list.Items {
			r := reference{kind: part.kind, version: part.resource.Version, name: item.Name}
			all = append(all, r)
			if slices.ContainsFunc(item.ManagedFields, func(f metav1.ManagedFieldsEntry) bool { return f.Manager == manager }) {
				own = append(own, r)
			}
		}
	}
	return all, own, nil
}

// newKinds tells a cluster's controllers about the kinds of systems. That takes a second, so it happens while the last
// system starts, as long as no more kinds can come with it.
type newKinds struct {
	installer   *installer
	controllers clusters.Rediscoverer
	known       []reference
	begun       chan error
}

// announced runs an action, and then tells the cluster about the kinds that it has added. The action may call back once
// all of them exist.
func (s *installer) announced(ctx context.Context, do func(allThere func()) error) error {
	controllers, ok := s.cluster.(clusters.Rediscoverer)
	if !ok {
		return do(func() {})
	}
	known, _, err := s.api.stock(ctx, "")
	if err != nil {
		return err
	}
	kinds := &newKinds{installer: s, controllers: controllers, known: known}
	if err := do(func() { kinds.begin(ctx) }); err != nil {
		return errors.Join(err, kinds.end())
	}
	if err := kinds.end(); err != nil {
		return err
	}
	return kinds.tell(ctx)
}

func (k *newKinds) begin(ctx context.Context) {
	if k.begun == nil {
		k.begun = make(chan error, 1)
		go func() { k.begun <- k.tell(ctx) }()
	}
}

func (k *newKinds) end() error {
	if k.begun == nil {
		return nil
	}
	return <-k.begun
}

// tell announces kinds that were not known yet.
func (k *newKinds) tell(ctx context.Context) error {
	now, _, err := k.installer.api.stock(ctx, "")
	if err != nil {
		return err
	}
	before := k.known
	k.known = now
	if !slices.ContainsFunc(now,
		func(r reference) bool { return r.kind != namespaceKind && !slices.Contains(before, r) }) {
		return nil
	}
	if err := k.controllers.Rediscover(ctx); err != nil {
		return fmt.Errorf("tell the controllers about new kinds: %w", err)
	}
	return nil
}

// takeStock records what a simulator has created: what it has applied and did not exist before. A webhook configuration
// that it did not renew belongs to its previous start, and is deleted.
func (s *installer) takeStock(ctx context.Context, sys *system, ca []byte, before []reference) error {
	_, own, err := s.api.stock(ctx, simulatorManager(sys.definition))
	if err != nil {
		return err
	}
	for _, object := range own {
		if !slices.Contains(before, object) {
			sys.objects = addReference(sys.objects, object)
		}
	}
	return s.api.deleteStale(ctx, sys.place.calledAt(), ca)
}

// simulatorManager is the field manager of a simulator.
func simulatorManager(definition clusters.System) string {
	if definition.Simulated == nil {
		return ""
	}
	return definition.Simulator() + "-simulator"
}

// available reports what an APIService still lacks.
func (a *api) available(ctx context.Context, name string) error {
	service, err := a.dynamic.Resource(apiServiceResource).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	conditions, _, _ := unstructured.NestedFieldNoCopy(service.Object, "status", "conditions")
	if !conditionTrue(conditions, "Available") {
		return fmt.Errorf("its conditions are %v", conditions)
	}
	return nil
}
