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

// stock lists what there is of the kinds that a simulator may make and that must go with it: namespaces with all that
// is in them, CustomResourceDefinitions and APIServices. The second list holds those that it has applied itself.
// Bodies, which may be large, stay where they are.
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

// newKinds tells a cluster's controllers of the kinds that come with systems, which takes a second: while the last
// system starts, where no more kinds can come with it.
type newKinds struct {
	installer   *installer
	controllers clusters.Rediscoverer
	known       []reference
	begun       chan error
}

// announced does something, and then tells the cluster of the kinds that came with it. What is done may say when all of
// them are there.
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

// tell tells of kinds that were not known yet.
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
		return fmt.Errorf("tell the controllers of new kinds: %w", err)
	}
	return nil
}

// takeStock notes what a simulator has made: what it has applied and was not there before. A webhook configuration
// that it did not renew is of what it was before, and goes.
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

// simulatorManager is the field manager that a simulator applies with.
func simulatorManager(definition clusters.System) string {
	if definition.Simulated == nil {
		return ""
	}
	return definition.Simulator() + "-simulator"
}

// available says what an APIService still lacks.
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
