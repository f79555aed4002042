package systems

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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
// their content, CustomResourceDefinitions and APIServices. own are those that the field manager has applied. stock
// reads only metadata, because the objects may be large.
func (a *api) stock(ctx context.Context, manager string) (all, own []reference, err error) {
	for _, part := range []struct {
		kind     schema.GroupKind
		resource schema.GroupVersionResource
	}{
		{namespaceKind, namespaceResource}, {crdKind, crdResource}, {apiServiceKind, apiServiceResource},
	} {
		list, err := a.metadata.Resource(part.resource).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue // this API server has no aggregation
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

// newKinds tells a cluster's controllers about the new kinds of systems. That takes a second. To save time, it happens
// while the last system starts, as soon as all kinds exist.
type newKinds struct {
	installer   *installer
	controllers clusters.Rediscoverer
	known       []reference
	begun       chan error
}

// announced runs an action, and then tells the cluster's controllers about the kinds that the action has added. The
// action may call allThere as soon as all kinds exist.
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

// tell tells the controllers about kinds that did not exist the last time.
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

// takeStock records the objects that a simulator has created: those that it has applied and that did not exist before.
func (s *installer) takeStock(ctx context.Context, sys *system, before []reference) error {
	_, own, err := s.api.stock(ctx, simulatorManager(sys.definition))
	if err != nil {
		return err
	}
	for _, object := range own {
		if !slices.Contains(before, object) {
			sys.objects = addReference(sys.objects, object)
		}
	}
	return nil
}

// abandon ends a simulator that does not become ready, and records what it has created, so that it is removed with the
// system. The start may have failed because the context has ended.
func (s *installer) abandon(ctx context.Context, sys *system, before []reference) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonTimeout)
	defer cancel()
	var stopErr error
	if sys.process != nil {
		stopErr = sys.process.Stop(ctx, stopGrace) // otherwise it could still create objects
	}
	if err := errors.Join(stopErr, s.takeStock(ctx, sys, before)); err != nil {
		return fmt.Errorf("find what it has created, to remove it later: %w", err)
	}
	return nil
}

// abandonTimeout is far more than abandon needs.
const abandonTimeout = 30 * time.Second

// simulatorManager is the field manager of a simulator; "" if the system is not simulated.
func simulatorManager(definition clusters.System) string {
	if definition.Simulated == nil {
		return ""
	}
	return definition.Simulator() + "-simulator"
}

// available returns an error that describes the conditions of an APIService, until it is available.
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
