package objects

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

	"github.com/rehearse-dev/rehearse/clusters/finalizing"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/waiting"
)

// DeleteAll deletes the objects of a system, stage by stage, and returns when they no longer exist. An object that
// stays, such as a CRD whose objects have a finalizer, does not keep the others.
func (c *Client) DeleteAll(ctx context.Context, objects []Reference) error {
	ordered := inRemovalOrder(objects)
	rest := slices.IndexFunc(ordered, func(r Reference) bool { return stageOf(r) > crdStage })
	if rest < 0 {
		rest = len(ordered)
	}
	first, cancel := waiting.Share(ctx, 2)
	defer cancel()
	return errors.Join(c.deleteTogether(first, ordered[:rest]), c.deleteTogether(ctx, ordered[rest:]))
}

// Stages of a removal. The system must still run while its CRDs are deleted: their objects may have finalizers that
// only the system removes.
const (
	callStage = iota // the API server no longer calls the system
	crdStage
	otherStage
	namespaceStage
)

func stageOf(r Reference) int {
	switch {
	case r.Kind.Group == "admissionregistration.k8s.io" || r.Kind == APIServiceKind:
		return callStage
	case r.Kind == CRDKind:
		return crdStage
	case r.Kind == NamespaceKind:
		return namespaceStage
	}
	return otherStage
}

// inRemovalOrder sorts the objects of a system for their deletion: by stage, and otherwise in reverse order.
func inRemovalOrder(objects []Reference) []Reference {
	ordered := slices.Clone(objects)
	slices.Reverse(ordered)
	slices.SortStableFunc(ordered, func(a, b Reference) int { return cmp.Compare(stageOf(a), stageOf(b)) })
	return ordered
}

// deleteTogether sends a request to delete each object, and then waits until none of them exists.
func (c *Client) deleteTogether(ctx context.Context, objects []Reference) error {
	var leaving []Reference
	var errs []error
	for _, r := range objects {
		if err := c.requestDeletion(ctx, r); err != nil {
			errs = append(errs, err)
		} else {
			leaving = append(leaving, r)
		}
	}
	return errors.Join(append(errs, c.gone(ctx, leaving))...)
}

// Delete deletes an object, and returns when it no longer exists. It is not an error if the object did not exist.
func (c *Client) Delete(ctx context.Context, r Reference) error {
	return c.deleteTogether(ctx, []Reference{r})
}

// requestDeletion returns when the API server has accepted the deletion of an object. It is not an error if the object
// does not exist.
func (c *Client) requestDeletion(ctx context.Context, r Reference) error {
	mapping, err := c.mapping(r.Kind, r.Version)
	if meta.IsNoMatchError(err) {
		return nil // its CRD was deleted first
	}
	if err != nil {
		return err
	}
	client, background := c.metadata.Resource(mapping.Resource), metav1.DeletePropagationBackground
	err = client.Namespace(r.Namespace).Delete(ctx, r.Name, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s: %w", r, err)
	}
	return nil
}

// gone waits until no object exists.
func (c *Client) gone(ctx context.Context, left []Reference) error {
	due := time.Now().Add(finalizing.Period)
	err := waiting.Until(ctx, nil, func(ctx context.Context) error {
		late := time.Now().After(due)
		if late {
			due = time.Now().Add(finalizing.Period)
		}
		var errs []error
		left = slices.DeleteFunc(left, func(r Reference) bool {
			err := c.absent(ctx, r)
			if err != nil && r.Kind == CRDKind && late {
				err = errors.Join(err, finalizing.Retry(ctx, c.dynamic.Resource(crdResource), r.Name, time.Now()))
			}
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
func (c *Client) absent(ctx context.Context, r Reference) error {
	left, err := c.there(ctx, r)
	if left == nil {
		return err
	}
	return fmt.Errorf("%s still exists, with finalizers %v", r, left.Finalizers)
}
