package simulator

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// occupiedError says that something has a name that is needed for something else.
type occupiedError struct {
	object client.Object
}

func (e *occupiedError) Error() string {
	return fmt.Sprintf("a %T %s is needed, but there is one that belongs to something else; waiting for it to go",
		e.object, e.object.GetName())
}

func asOccupied(err error, taken **occupiedError) bool {
	return errors.As(err, taken)
}

// owned tells whether what is there has the controller that it is wanted for.
func owned(want, have client.Object) bool {
	one, other := metav1.GetControllerOf(want), metav1.GetControllerOf(have)
	return one == nil || other != nil && one.UID == other.UID
}

// createOwned creates an object. That it is there already, with the same owner, is no error: the cache may not have
// known.
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
