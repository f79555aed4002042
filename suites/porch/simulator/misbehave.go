package simulator

import (
	"context"
	"errors"
	"reflect"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
)

// misbehave applies the simulator's faults after a failed creation.
func (r *revisions) misbehave(ctx context.Context, asked *v1alpha1.PackageRevision, options *metav1.CreateOptions,
	failure error,
) (runtime.Object, error) {
	var rejection *engine.Rejection
	var task *taskError
	failed := errors.As(failure, &task)
	switch {
	case r.rulesIn(ctx).Has(engine.StoresBeforeChecks) && !failed && errors.As(failure, &rejection) &&
		rejection.Class == engine.BadRequest,
		r.rulesIn(ctx).Has(engine.FailedDraftStays) && failed,
		r.rulesIn(ctx).Has(engine.FailedDraftShows) && failed:
		return nil, errors.Join(failure, r.leave(ctx, asked, options, r.rulesIn(ctx).Has(engine.FailedDraftShows)))
	case r.rulesIn(ctx).Has(engine.CreateOverwrites) && apierrors.IsAlreadyExists(failure):
		return r.overwrite(ctx, asked)
	}
	return nil, failure
}

// leave stores the rejected object, and deletes it again if it should be visible only for a moment.
func (r *revisions) leave(ctx context.Context, asked *v1alpha1.PackageRevision, options *metav1.CreateOptions,
	remove bool,
) error {
	stored, err := r.Store.Create(withRequest(ctx, &request{unjudged: true}), asked, nil, options)
	if err != nil || !remove {
		return err
	}
	_, _, err = r.Store.Delete(ctx, stored.(*v1alpha1.PackageRevision).Name, rest.ValidateAllObjectFunc,
		&metav1.DeleteOptions{})
	return err
}

func (r *revisions) overwrite(ctx context.Context, asked *v1alpha1.PackageRevision) (runtime.Object, error) {
	r.rulesIn(ctx).Default(&asked.Spec)
	stored, err := r.get(ctx, r.rulesIn(ctx).Name(&asked.Spec))
	if err != nil {
		return nil, err
	}
	stored.Spec, stored.Labels, stored.ManagedFields = asked.Spec, asked.Labels, asked.ManagedFields
	written, _, err := r.Store.Update(withRequest(ctx, &request{unjudged: true}), stored.Name,
		rest.DefaultUpdatedObjectInfo(stored), nil, nil, false, &metav1.UpdateOptions{})
	return written, err
}

// versions remembers the first version of each revision, for a simulator with a fault in its versions.
type versions struct {
	first sync.Map // of string, by UID
}

func (v *versions) forget(revision *v1alpha1.PackageRevision) { v.first.Delete(revision.UID) }

// misbehave treats an update of an old version like one of the current version, or the reverse.
func (v *versions) misbehave(rules engine.Rules, way engine.Way, after, before *v1alpha1.PackageRevision) error {
	stale := after.ResourceVersion != before.ResourceVersion
	switch {
	case rules.Has(engine.VersionCached):
		if first, known := v.first.LoadOrStore(before.UID, before.ResourceVersion); known && after.ResourceVersion != first {
			return apierrors.NewConflict(v1alpha1.Resource("packagerevisions"), before.Name,
				errors.New(registry.OptimisticLockErrorMsg))
		}
	case stale && rules.Has(engine.StaleVersionAccepted),
		stale && rules.Has(engine.StaleApprovalAccepted) && way == engine.Approval,
		stale && rules.Has(engine.StaleMetadataAccepted) && reflect.DeepEqual(after.Spec, before.Spec),
		after.ResourceVersion == "" && rules.Has(engine.VersionNotRequired):
		after.ResourceVersion = before.ResourceVersion
	}
	return nil
}
