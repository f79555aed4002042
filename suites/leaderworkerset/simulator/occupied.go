package simulator

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// occupiedError means that another object has a required name.
type occupiedError struct {
	object client.Object
}

func (e *occupiedError) Error() string {
	return fmt.Sprintf("a %T %s is needed, but that name belongs to another owner; waiting until it is free",
		e.object, e.object.GetName())
}

func asOccupied(err error, taken **occupiedError) bool {
	return errors.As(err, taken)
}

// owned reports whether an existing object has the desired controller.
func owned(want, have client.Object) bool {
	one, other := metav1.GetControllerOf(want), metav1.GetControllerOf(have)
	return one == nil || other != nil && one.UID == other.UID
}

// createOwned creates an object. It is not an error if it exists with the same owner: the cache may be stale.
func createOwned(ctx context.Context, c client.Client, live client.Reader, want client.Object) error {
	err := c.Create(ctx, want)
	if !apierrors.IsAlreadyExists(err) {
		if err != nil {
			return fmt.Errorf("create %T %s: %w", want, want.GetName(), err)
		}
		return nil
	}
	have := &metav1.PartialObjectMetadata{}
	gvk, err := c.GroupVersionKindFor(want)
	if err != nil {
		return err
	}
	have.SetGroupVersionKind(gvk)
	if err := live.Get(ctx, client.ObjectKeyFromObject(want), have); err != nil {
		return fmt.Errorf("read %T %s: %w", want, want.GetName(), err)
	}
	if !owned(want, have) {
		return &occupiedError{object: want}
	}
	return nil
}
