package simulator

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// occupiedError means that another object has a required name.
type occupiedError struct {
	object client.Object
}

func (e *occupiedError) Error() string {
	return fmt.Sprintf("a %T %s is needed, but that name belongs to another owner; waiting until it is free",
		e.object, e.object.GetName())
}

// occupiedAgain is the delay before a retry if another object has a required name.
const occupiedAgain = 2 * time.Second

// result is the result of a reconcile that returned err. If another object has a required name, there is an event, and
// the reconcile is repeated after a pause; with a liberty, that is an error like any other.
func (b behaviour) result(ctx context.Context, recorder events.EventRecorder, object client.Object, err error,
) (reconcile.Result, error) {
	if ctx.Err() != nil {
		return reconcile.Result{}, nil // the next run starts from the current state
	}
	var taken *occupiedError
	if errors.As(err, &taken) {
		recorder.Eventf(object, nil, corev1.EventTypeWarning, "NameTaken", "Create", "%s", taken)
		if !b.Liberties.Takes(libertyErrorsMeanwhile) {
			return reconcile.Result{RequeueAfter: occupiedAgain}, nil
		}
	}
	return reconcile.Result{}, err
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
