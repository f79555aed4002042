package simulator

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
)

// approval is the subresource through which a proposed revision is published, or returned to draft. It changes only the
// lifecycle.
type approval struct {
	revisions *revisions
}

// New returns an empty object for decoding.
func (a *approval) New() runtime.Object { return &v1alpha1.PackageRevision{} }

// Destroy does nothing: the storage of revisions does it.
func (a *approval) Destroy() {}

// Get returns the revision itself.
func (a *approval) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return a.revisions.Get(ctx, name, options)
}

// Update changes the lifecycle.
func (a *approval) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo,
	creation rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, _ bool,
	options *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	return a.revisions.updateAs(ctx, &request{way: engine.Approval, name: name}, name, onlyLifecycle{info}, creation,
		update, false, options)
}

// onlyLifecycle applies only the lifecycle of an update.
type onlyLifecycle struct{ rest.UpdatedObjectInfo }

// UpdatedObject is the stored object with another lifecycle.
func (o onlyLifecycle) UpdatedObject(ctx context.Context, before runtime.Object) (runtime.Object, error) {
	after, err := o.UpdatedObjectInfo.UpdatedObject(ctx, before)
	if err != nil {
		return nil, err
	}
	asked, next := after.(*v1alpha1.PackageRevision), before.DeepCopyObject().(*v1alpha1.PackageRevision)
	next.Spec.Lifecycle, next.ResourceVersion, next.ManagedFields = asked.Spec.Lifecycle, asked.ResourceVersion,
		asked.ManagedFields
	return next, nil
}
