package writes

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters/finalizing"
	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

// Remove deletes an object that a step made, and waits until it is gone. It tries until the context ends. It does not
// delete an object that another client made in its place. It calls deleted, if given, when the API server has accepted
// the deletion. The error says what keeps the object.
func Remove(ctx context.Context, client dynamic.Interface, made Made, deleted func()) error {
	api := dynamic.ResourceInterface(client.Resource(made.Resource))
	if made.Namespaced {
		api = client.Resource(made.Resource).Namespace(made.Namespace)
	}
	again := (&Writer{}).pauses()
	for {
		uid, err := removeOnce(ctx, api, made)
		switch {
		case err == nil && uid == "":
			return nil
		case err == nil:
			if deleted != nil {
				deleted()
			}
			defer retryDeletion(ctx, api, made)()
			return untilGone(ctx, api, made.Name, uid)
		}
		if !pauses.Wait(ctx, again) {
			return fmt.Errorf("delete %s %s: %w", made.Kind, made.Name, err)
		}
	}
}

// retryDeletion makes kube-apiserver retry the deletion of a CustomResourceDefinition, until the returned function is
// called.
func retryDeletion(ctx context.Context, api dynamic.ResourceInterface, made Made) (end func()) {
	if made.Kind != "CustomResourceDefinition" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		for pauses.For(ctx, finalizing.Period) {
			_ = finalizing.Retry(ctx, api, made.Name, time.Now()) // the next one may succeed
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// removeOnce sends the deletion, and returns the UID of what is being deleted; "" if there is no object of ours.
func removeOnce(ctx context.Context, api dynamic.ResourceInterface, made Made) (types.UID, error) {
	uid := types.UID(made.UID)
	if uid == "" {
		object, err := api.Get(ctx, made.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return "", nil
		case err != nil:
			return "", err
		case !marked(object.GetManagedFields(), made.Manager):
			return "", nil
		}
		uid = object.GetUID()
	}
	policy := metav1.DeletePropagationBackground
	err := api.Delete(ctx, made.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &policy,
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) && replaced(ctx, api, made.Name, uid) {
		return "", nil
	}
	return uid, err
}

// replaced reports whether the object is gone, or another one has its name. A conflict alone does not say so: admission
// may reject a deletion with that code.
func replaced(ctx context.Context, api dynamic.ResourceInterface, name string, uid types.UID) bool {
	object, err := api.Get(ctx, name, metav1.GetOptions{})
	return apierrors.IsNotFound(err) || err == nil && object.GetUID() != uid
}

func marked(entries []metav1.ManagedFieldsEntry, manager string) bool {
	for _, entry := range entries {
		if entry.Manager == manager {
			return true
		}
	}
	return false
}
