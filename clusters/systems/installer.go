package systems

import (
	"context"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems/documents"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/waiting"
)

// installer installs the objects of systems in a cluster, and proves that they have taken effect.
type installer struct {
	cluster clusters.Cluster
	api     *api
	// borrowed: objects of another installation are not overwritten.
	borrowed bool
	// together reports whether two systems, by their names, are replicas of one service, which share their objects.
	together func(one, other string) bool
}

// install applies the objects of a system that runs as a process. Its conversion webhooks and webhook configurations
// then point to the process. install deletes objects that the system no longer has, except CRDs.
func (s *installer) install(ctx context.Context, sys *system, ca []byte) error {
	crds, err := documents.OfKinds(sys.program.crds,
		func(o *unstructured.Unstructured) bool { return o.GroupVersionKind().GroupKind() == crdKind })
	if err != nil {
		return err
	}
	webhooks, err := documents.OfKinds(sys.program.webhooks, isWebhook)
	if err != nil {
		return err
	}
	url := sys.place.calledAt()
	var wanted []reference
	for _, crd := range crds {
		redirectConversion(crd, url, ca)
		wanted = append(wanted, reference{kind: crdKind, version: crd.GroupVersionKind().Version, name: crd.GetName()})
	}
	objects, err := s.applyObjects(ctx, sys, foundations(sys.program.objects), nil)
	if err != nil {
		return err
	}
	for _, configuration := range webhooks {
		redirectWebhooks(configuration, url, ca)
		wanted = append(wanted,
			reference{
				kind: configuration.GroupVersionKind().GroupKind(), version: configuration.GroupVersionKind().Version,
				name: configuration.GetName(),
			})
		if err := s.notTaken(ctx, sys.definition.Name, configuration); err != nil {
			return err
		}
	}
	if err := s.applyAll(ctx, sys, crds); err != nil {
		return err
	}
	if objects, err = s.applyObjects(ctx, sys, others(sys.program.objects), objects); err != nil {
		return err
	}
	if err := s.applyAll(ctx, sys, webhooks); err != nil {
		return err
	}
	if err := s.prune(ctx, sys, append(wanted, objects...)); err != nil {
		return err
	}
	sys.calledAt = url
	return s.trustKept(ctx, sys, ca)
}

// applyAll applies objects, and records those that did not exist before. After each CRD it waits until the CRD is
// served, because later objects may need it.
func (s *installer) applyAll(ctx context.Context, sys *system, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if err := s.free(ctx, sys.definition.Name, object); err != nil {
			return err
		}
		made, r, err := s.api.apply(ctx, sys.definition.Name, object)
		if err != nil {
			return err
		}
		if made {
			sys.objects = addReference(sys.objects, r)
		}
		if r.kind != crdKind {
			continue
		}
		if err := waiting.Until(ctx, nil, func(ctx context.Context) error { return s.api.crdServed(ctx, r.name) }); err != nil {
			return fmt.Errorf("wait until %s is served: %w", r, err)
		}
	}
	return nil
}

// free is notTaken for the objects of a borrowed cluster. Namespaces may exist.
func (s *installer) free(ctx context.Context, system string, object *unstructured.Unstructured) error {
	if !s.borrowed || object.GetAPIVersion() == "v1" && object.GetKind() == "Namespace" {
		return nil
	}
	return s.notTaken(ctx, system, object)
}

// notTaken returns an error if the cluster already has the object, but from another installation.
func (s *installer) notTaken(ctx context.Context, system string, object *unstructured.Unstructured) error {
	_, mapping, r, err := s.api.resource(object)
	if err != nil {
		return err
	}
	there, err := s.api.metadata.Resource(mapping.Resource).Namespace(r.namespace).Get(ctx, r.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for %s: %w", r, err)
	}
	if owner := there.Labels[label]; owner != system && !s.together(owner, system) {
		return fmt.Errorf("the cluster has a %s already, which was not installed by rehearse for system %s; remove the "+
			"other installation first", r, system)
	}
	return nil
}

// applyObjects applies objects that a process needs, and adds their references to the wanted ones. An object that is
// unchanged since the last apply is skipped: applying it would call the system's own webhooks, which do not answer now.
func (s *installer) applyObjects(ctx context.Context, sys *system, objects []*unstructured.Unstructured,
	wanted []reference,
) ([]reference, error) {
	for _, object := range objects {
		client, _, r, err := s.api.resource(object)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, r)
		if last := sys.applied[r]; last != nil && reflect.DeepEqual(last.Object, object.Object) {
			_, err := client.Get(ctx, r.name, metav1.GetOptions{})
			if err == nil {
				continue
			}
			if !apierrors.IsNotFound(err) {
				return nil, err
			}
		}
		if err := s.applyAll(ctx, sys, []*unstructured.Unstructured{object}); err != nil {
			return nil, err
		}
		if sys.applied == nil {
			sys.applied = map[reference]*unstructured.Unstructured{}
		}
		sys.applied[r] = object
	}
	return wanted, nil
}
