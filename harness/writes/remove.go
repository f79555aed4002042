package writes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters/finalizing"
	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/harness/served"
)

// Remover removes objects that steps made.
type Remover struct {
	Client dynamic.Interface
	// Kinds finds another version of an object whose version is no longer served. May be nil.
	Kinds *served.Kinds
}

// Remove deletes an object that a step made, and waits until it is gone. It tries until the context ends. It does not
// delete an object that another client made in its place. It calls deleted, if given, when the API server has accepted
// the deletion. The error says what keeps the object. It is a *served.NotServedError if no version of it is served.
func (r Remover) Remove(ctx context.Context, made Made, deleted func()) error {
	if made.Name == "" {
		return r.removeGenerated(ctx, made, deleted)
	}
	var uid types.UID
	at, err := r.tryEachVersion(ctx, made, func(at location) (err error) {
		uid, err = at.remove(ctx, made)
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("delete %s %s: %w", made.Kind, made.Name, err)
	case uid == "":
		return nil
	}
	if deleted != nil {
		deleted()
	}
	defer retryDeletion(ctx, at.api, made)()
	return at.untilGone(ctx, uid)
}

// removeGenerated removes the objects with a generated name that the step made: its field manager shows which.
func (r Remover) removeGenerated(ctx context.Context, made Made, deleted func()) error {
	var all []unstructured.Unstructured
	at, err := r.tryEachVersion(ctx, made, func(at location) error {
		list, err := at.api.List(ctx, metav1.ListOptions{})
		switch {
		case err == nil:
			all = list.Items
		case at.absent(ctx, err):
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("look for the %s %s* that may have been made: %w", made.Kind, made.GenerateName, err)
	}
	made.Resource = at.resource
	var errs []error
	for _, object := range all {
		if strings.HasPrefix(object.GetName(), made.GenerateName) && marked(object.GetManagedFields(), made.Manager) {
			one := made
			one.Name, one.UID = object.GetName(), string(object.GetUID())
			errs = append(errs, r.Remove(ctx, one, deleted))
		}
	}
	return errors.Join(errs...)
}

// tryEachVersion calls attempt until it succeeds, or the context ends. If the version of the object is not served,
// it goes on in another one. It returns where the attempt succeeded.
func (r Remover) tryEachVersion(ctx context.Context, made Made, attempt func(location) error) (location, error) {
	again := (&Writer{}).pauses()
	for {
		at := located(r.Client, made)
		err := attempt(at)
		if err == nil {
			return at, nil
		}
		var lasting bool
		if unserved(err) && r.Kinds != nil {
			made, lasting, err = r.inServedVersion(ctx, made)
		}
		if lasting || !pauses.Wait(ctx, again) {
			return at, err
		}
	}
}

// inServedVersion returns the object in the newest version that is served. lasting says that there is none, and that
// none will appear.
func (r Remover) inServedVersion(ctx context.Context, made Made) (now Made, lasting bool, err error) {
	r.Kinds.Reset()
	_, err = r.Kinds.Find(ctx, made.Resource.GroupVersion().WithKind(made.Kind))
	var none *served.NotServedError
	switch {
	case err == nil: // another API server serves it, or this one does by now
		err = fmt.Errorf("not every API server serves %s", made.Resource.GroupVersion())
	case errors.As(err, &none) && len(none.Versions) > 0:
		made.Resource.Version = none.Versions[0]
	case none != nil:
		lasting = none.Complete && !none.MayAppear
	}
	return made, lasting, err
}

// location is where an object is read and deleted.
type location struct {
	client   dynamic.Interface
	api      dynamic.ResourceInterface
	resource schema.GroupVersionResource
	name     string
}

func located(client dynamic.Interface, made Made) location {
	at := location{client: client, api: client.Resource(made.Resource), resource: made.Resource, name: made.Name}
	if made.Namespaced {
		at.api = client.Resource(made.Resource).Namespace(made.Namespace)
	}
	return at
}

// absent reports whether an answer shows that the object does not exist. A custom kind that is not served has no
// objects if it has no CustomResourceDefinition: they are deleted with it.
func (l location) absent(ctx context.Context, err error) bool {
	if !unserved(err) || !served.MayBeCustom(l.resource.Group) {
		return absent(err)
	}
	_, err = l.client.Resource(served.Definitions).Get(ctx, l.resource.GroupResource().String(), metav1.GetOptions{})
	return absent(err)
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

// remove sends the deletion, and returns the UID of what is being deleted; "" if there is no object of ours.
func (l location) remove(ctx context.Context, made Made) (types.UID, error) {
	uid := types.UID(made.UID)
	if uid == "" {
		object, err := l.api.Get(ctx, l.name, metav1.GetOptions{})
		switch {
		case l.absent(ctx, err):
			return "", nil
		case err != nil:
			return "", err
		case !marked(object.GetManagedFields(), made.Manager):
			return "", nil
		}
		uid = object.GetUID()
	}
	policy := metav1.DeletePropagationBackground
	err := l.api.Delete(ctx, l.name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &policy,
	})
	if l.absent(ctx, err) || apierrors.IsConflict(err) && l.replaced(ctx, uid) {
		return "", nil
	}
	return uid, err
}

// replaced reports whether the object is gone, or another one has its name. A conflict alone does not say so: admission
// may reject a deletion with that code.
func (l location) replaced(ctx context.Context, uid types.UID) bool {
	object, err := l.api.Get(ctx, l.name, metav1.GetOptions{})
	return l.absent(ctx, err) || err == nil && object.GetUID() != uid
}

func marked(entries []metav1.ManagedFieldsEntry, manager string) bool {
	for _, entry := range entries {
		if entry.Manager == manager {
			return true
		}
	}
	return false
}
