package upgrade

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/harness/transplant"
)

// goneWithin is how long deleted objects may take to disappear. goneAgain is the pause between two checks.
const (
	goneWithin = time.Minute
	goneAgain  = 250 * time.Millisecond
)

// redeploy deletes and recreates the objects, so that the rollback is also rehearsed with objects that the newer
// version created. Rollouts and Helm releases after an upgrade create such objects.
func (r *rehearsal) redeploy(ctx context.Context, i int) (err error) {
	state := r.report.Path[i]
	r.Progress("recreating all objects at %s", r.report.Path[i-1].Name)
	began := time.Now()
	state.Began = began
	defer func() { state.Transition = time.Since(began).Seconds() }()
	removed, err := r.creator.remove(ctx, r.created)
	if err != nil {
		return err
	}
	created, left, err := r.creator.createAll(ctx, removed.gone)
	if err != nil {
		return err
	}
	deleted := removed.gone
	for _, one := range removed.going { // from now on, the survey would only see our own deletion
		deleted = append(deleted, one.object)
	}
	r.survey.Replace(deleted, r.share.take(created)...)
	known := r.lose(i, r.share.rejected(removed.going), r.share.rejected(left), r.survey.Broken)
	for _, one := range append(r.share.rejected(removed.kept), known...) { // those that are kept are still checked
		r.report.Notes = append(r.report.Notes, fmt.Sprintf("%s (%s) could not be recreated at %s: %v", one.object,
			one.object.Place(), r.report.Path[i-1].Name, one.err))
	}
	if err := r.survey.Still(ctx); err != nil {
		return err
	}
	r.mark, err = r.survey.Begin(ctx)
	return err
}

// lose reports the objects that are still being deleted, or were not created again: they are not checked from the i-th
// state on. It returns those whose reason a finding already gives, instead: broken says which checks of an object fail.
func (r *rehearsal) lose(i int, going, left []rejected,
	broken func(*manifests.Object, ...survey.Check) bool,
) []rejected {
	var known []rejected
	for n, one := range slices.Concat(going, left) {
		// Its finalizers cannot be removed if an update of it is rejected.
		reasons := []survey.Check{survey.Read, survey.Update, survey.Label, survey.Delete, survey.Finalizer}
		if n >= len(going) {
			reasons = []survey.Check{survey.Read, survey.Create, survey.Apply}
		}
		if broken(one.object, reasons...) {
			known = append(known, one)
			continue
		}
		r.uncreated(one, i, "it was deleted to recreate it, and is not checked from here on",
			"recreate it by hand on the new version, or exclude it with --except")
	}
	return known
}

// removal is the result of deleting objects.
type removal struct {
	gone []*manifests.Object
	// going are deleted, but still exist after goneWithin.
	going []rejected
	// kept are objects whose deletion was rejected.
	kept []rejected
}

// remove deletes objects in the reverse order of creation, and waits until they and their dependents are gone.
// CustomResourceDefinitions and Namespaces stay, because their deletion would delete other objects.
func (c *creator) remove(ctx context.Context, created []survey.Created) (removed removal, err error) {
	byObject := map[*manifests.Object]survey.Created{}
	var objects []*manifests.Object
	for _, one := range created {
		byObject[one.Object] = one
		objects = append(objects, one.Object)
	}
	ordered := manifests.InOrder(objects)
	slices.Reverse(ordered)
	ordered = slices.DeleteFunc(ordered, func(o *manifests.Object) bool { return stays(o) || c.claimed(ctx, o) })
	var deleted []*manifests.Object
	for _, o := range ordered {
		if err := c.delete(ctx, byObject[o]); err != nil {
			removed.kept = append(removed.kept, rejected{o, err})
		} else {
			deleted = append(deleted, o)
		}
		if ctx.Err() != nil {
			return removal{}, context.Cause(ctx)
		}
	}
	deadline := time.Now().Add(goneWithin)
	for _, o := range deleted {
		if err := c.awaitGone(ctx, byObject[o], deadline); err != nil {
			removed.going = append(removed.going, rejected{o, err})
		} else {
			removed.gone = append(removed.gone, o)
		}
	}
	if ctx.Err() != nil {
		return removal{}, context.Cause(ctx)
	}
	return removed, nil
}

// stays reports whether an object is not deleted: that would delete others, or the cluster itself maintains the object.
func stays(o *manifests.Object) bool {
	return transplant.ClustersOwn(o.Content) || slices.Contains([]schema.GroupKind{
		{Kind: "Namespace"},
		{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
	}, o.GVK().GroupKind())
}

// claimed reports whether an object is a PersistentVolume that a claim uses which was not given, such as one of a
// StatefulSet. That claim stays, so the volume would not go.
func (c *creator) claimed(ctx context.Context, o *manifests.Object) bool {
	if o.GVK().GroupKind() != (schema.GroupKind{Kind: "PersistentVolume"}) {
		return false
	}
	api, _, err := c.api(ctx, o)
	if err != nil {
		return false // its deletion reports it
	}
	stored, err := api.Get(ctx, o.Content.GetName(), metav1.GetOptions{})
	if err != nil {
		return false
	}
	claim, bound, _ := unstructured.NestedMap(stored.Object, "spec", "claimRef")
	namespace, _ := claim["namespace"].(string)
	name, _ := claim["name"].(string)
	return bound && c.given[identity{schema.GroupResource{Resource: "persistentvolumeclaims"}, namespace, name}] == nil
}

// delete deletes an object and its dependents. First it removes the finalizers of the manifest, because the controllers
// that would remove them do not run here.
func (c *creator) delete(ctx context.Context, one survey.Created) error {
	api, _, err := c.api(ctx, one.Object)
	if err != nil {
		return err
	}
	name := one.Object.Content.GetName()
	if own := one.Object.Content.GetFinalizers(); len(own) > 0 {
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			stored, err := api.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			stored.SetFinalizers(slices.DeleteFunc(stored.GetFinalizers(), func(finalizer string) bool {
				return slices.Contains(own, finalizer)
			}))
			_, err = api.Update(ctx, stored, metav1.UpdateOptions{FieldManager: "rehearse-upgrade"})
			return err
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("remove its finalizers: %w", err)
		}
	}
	uid, foreground := types.UID(one.UID), metav1.DeletePropagationForeground
	err = api.Delete(ctx, name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &foreground,
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete it: %w", err)
	}
	return nil
}

// awaitGone returns when the object is gone. An error says why it still exists.
func (c *creator) awaitGone(ctx context.Context, one survey.Created, deadline time.Time) error {
	api, _, err := c.api(ctx, one.Object)
	if err != nil {
		return err
	}
	for {
		stored, err := api.Get(ctx, one.Object.Content.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && string(stored.GetUID()) != one.UID: // the cluster itself recreated it
			return nil
		case time.Now().After(deadline) && err != nil:
			return fmt.Errorf("check whether it is gone: %w", err)
		case time.Now().After(deadline):
			return fmt.Errorf("it was deleted, but still exists after %s (finalizers: %s); it is no longer judged",
				goneWithin, cmp.Or(strings.Join(stored.GetFinalizers(), ", "), "none"))
		}
		pauses.For(ctx, goneAgain) // the next attempt sees the end of the context
	}
}
