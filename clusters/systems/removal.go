package systems

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"

	"github.com/rehearse-dev/rehearse/clusters/systems/internal/waiting"
)

// releaseObjects returns what must be deleted with a system: the objects that were created for it, and the
// configurations of the webhooks that are called at its process. If its service has another replica, that one gets the
// objects instead. After an error, it also returns what it knows.
func (s *Set) releaseObjects(ctx context.Context, sys *system) ([]reference, error) {
	objects := slices.Clone(sys.objects)
	if sys.place == nil {
		return objects, nil
	}
	addresses := []string{sys.place.calledAt()}
	if heir := s.replicaBeside(sys); heir != nil {
		for _, object := range objects {
			heir.objects = addReference(heir.objects, object)
		}
		objects = nil
	} else if behind := sys.place.service; behind != nil {
		addresses = append(addresses, behind.url())
	}
	var errs []error
	for _, address := range addresses {
		hooks, err := s.api.hooksAt(ctx, address)
		for _, h := range hooks {
			objects = addReference(objects, h.configuration)
		}
		errs = append(errs, err)
	}
	return objects, errors.Join(errs...)
}

// deleteAll deletes the objects of a system, stage by stage, and returns when they no longer exist. An object that
// stays, such as a CRD whose objects have a finalizer, does not keep the others.
func (a *api) deleteAll(ctx context.Context, objects []reference) error {
	ordered := inRemovalOrder(objects)
	rest := slices.IndexFunc(ordered, func(r reference) bool { return stageOf(r) > crdStage })
	if rest < 0 {
		rest = len(ordered)
	}
	first, cancel := share(ctx, 2)
	defer cancel()
	return errors.Join(a.deleteTogether(first, ordered[:rest]), a.deleteTogether(ctx, ordered[rest:]))
}

// Stages of a removal. The system must still run while its CRDs are deleted: their objects may have finalizers that
// only the system removes.
const (
	callStage = iota // the API server no longer calls the system
	crdStage
	otherStage
	namespaceStage
)

func stageOf(r reference) int {
	switch {
	case r.kind.Group == "admissionregistration.k8s.io" || r.kind == apiServiceKind:
		return callStage
	case r.kind == crdKind:
		return crdStage
	case r.kind == namespaceKind:
		return namespaceStage
	}
	return otherStage
}

// inRemovalOrder sorts the objects of a system for their deletion: by stage, and otherwise in reverse order.
func inRemovalOrder(objects []reference) []reference {
	ordered := slices.Clone(objects)
	slices.Reverse(ordered)
	slices.SortStableFunc(ordered, func(a, b reference) int { return cmp.Compare(stageOf(a), stageOf(b)) })
	return ordered
}

// share returns a context with one of n equal parts of the time that is left.
func share(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	deadline, limited := ctx.Deadline()
	if !limited {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(n))
}

// deleteTogether sends a request to delete each object, and then waits until none of them exists.
func (a *api) deleteTogether(ctx context.Context, objects []reference) error {
	var leaving []reference
	var errs []error
	for _, r := range objects {
		if err := a.requestDeletion(ctx, r); err != nil {
			errs = append(errs, err)
		} else {
			leaving = append(leaving, r)
		}
	}
	return errors.Join(append(errs, a.gone(ctx, leaving))...)
}

// delete deletes an object, and returns when it no longer exists. It is not an error if the object did not exist.
func (a *api) delete(ctx context.Context, r reference) error {
	return a.deleteTogether(ctx, []reference{r})
}

// requestDeletion returns when the API server has accepted the deletion of an object. It is not an error if the object
// does not exist.
func (a *api) requestDeletion(ctx context.Context, r reference) error {
	client, err := a.metadataOf(r)
	if client == nil {
		return err
	}
	background := metav1.DeletePropagationBackground
	err = client.Delete(ctx, r.name, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s: %w", r, err)
	}
	return nil
}

// gone waits until no object exists.
func (a *api) gone(ctx context.Context, left []reference) error {
	err := waiting.Until(ctx, nil, func(ctx context.Context) error {
		var errs []error
		left = slices.DeleteFunc(left, func(r reference) bool {
			err := a.absent(ctx, r)
			errs = append(errs, err)
			return err == nil
		})
		return errors.Join(errs...)
	})
	if err != nil {
		return fmt.Errorf("wait until all deleted objects are gone: %w", err)
	}
	return nil
}

// absent returns an error if an object exists, or if that is unknown.
func (a *api) absent(ctx context.Context, r reference) error {
	client, err := a.metadataOf(r)
	if client == nil {
		return err
	}
	left, err := client.Get(ctx, r.name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("look for %s: %w", r, err)
	}
	return fmt.Errorf("%s still exists, with finalizers %v", r, left.Finalizers)
}

// metadataOf returns the client for the metadata of an object; nil, without an error, if its kind is not served: then
// its CRD was deleted first.
func (a *api) metadataOf(r reference) (metadata.ResourceInterface, error) {
	mapping, err := a.mapping(r.kind, r.version)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return a.metadata.Resource(mapping.Resource).Namespace(r.namespace), nil
}
