package simulator

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

// revisions are the stored package revisions.
type revisions struct {
	*registry.Store
	rules        engine.Rules
	liberties    liberty.Set
	repositories *repositories
	contents     *contents
	locks        locks
	versions     versions
	logger       logr.Logger
}

// newResources creates all served resources, by the names in their paths.
func newResources(storage generic.RESTOptions, s strategy, rules engine.Rules, liberties liberty.Set, all *repositories,
	logger logr.Logger,
) (map[string]rest.Storage, error) {
	table := rest.NewDefaultTableConvertor(v1alpha1.Resource("packagerevisions"))
	r := &revisions{rules: rules, liberties: liberties, repositories: all, contents: newContents(), logger: logger}
	r.Store = &registry.Store{
		NewFunc:                   func() runtime.Object { return &v1alpha1.PackageRevision{} },
		NewListFunc:               func() runtime.Object { return &v1alpha1.PackageRevisionList{} },
		DefaultQualifiedResource:  v1alpha1.Resource("packagerevisions"),
		SingularQualifiedResource: v1alpha1.Resource("packagerevision"),
		CreateStrategy:            s, UpdateStrategy: s, DeleteStrategy: s,
		TableConvertor: table,
		BeginCreate:    r.beginCreate, BeginUpdate: r.beginUpdate, AfterDelete: r.afterDelete,
	}
	if err := r.CompleteWithOptions(&generic.StoreOptions{RESTOptions: storage}); err != nil {
		return nil, fmt.Errorf("store package revisions: %w", err)
	}
	return map[string]rest.Storage{
		"packagerevisions":          r,
		"packagerevisions/approval": &approval{revisions: r},
		"packagerevisionresources": &resources{
			revisions:      r,
			TableConvertor: rest.NewDefaultTableConvertor(v1alpha1.Resource("packagerevisionresources")),
		},
	}, nil
}

// Create creates a revision, one at a time in a namespace.
func (r *revisions) Create(ctx context.Context, object runtime.Object, check rest.ValidateObjectFunc,
	options *metav1.CreateOptions,
) (runtime.Object, error) {
	defer r.locks.lock(genericapirequest.NamespaceValue(ctx))()
	if r.rulesIn(ctx).Has(engine.DryRunCreates) {
		options = options.DeepCopy()
		options.DryRun = nil
	}
	asked := object.DeepCopyObject().(*v1alpha1.PackageRevision)
	request := &request{}
	created, err := r.Store.Create(withRequest(ctx, request), object, request.creation(options.DryRun, check), options)
	if err != nil && len(options.DryRun) == 0 {
		created, err = r.misbehave(ctx, asked, options, err)
	}
	if err == nil && len(options.DryRun) == 0 && r.liberties.Takes(libertyWrittenAgain) {
		writeAgain(ctx, r, created.(*v1alpha1.PackageRevision))
	}
	return created, r.statusOf(ctx, object.(*v1alpha1.PackageRevision).Name, err)
}

// Update changes a revision, or creates it on a server-side apply.
func (r *revisions) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo,
	creation rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, force bool,
	options *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	return r.updateAs(ctx, &request{way: engine.Plain, name: name}, name, info, creation, update, force, options)
}

func (r *revisions) updateAs(ctx context.Context, request *request, name string, info rest.UpdatedObjectInfo,
	creation rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, force bool,
	options *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	end, err := beginUpdate(ctx, r, name)
	if err != nil {
		return nil, false, err
	}
	defer end()
	defer r.locks.lock(genericapirequest.NamespaceValue(ctx))()
	updated, created, err := r.Store.Update(withRequest(ctx, request), name, versioned{info, r.checkVersion},
		request.creation(options.DryRun, creation), request.update(options.DryRun, update), force, options)
	return updated, created, r.statusOf(ctx, name, err)
}

// beginUpdate rejects an update if the liberty says so and another one of the same revision is in progress.
func beginUpdate(ctx context.Context, r *revisions, name string) (end func(), err error) {
	end, alone := r.locks.begin(genericapirequest.NamespaceValue(ctx), name)
	switch {
	case alone:
		return end, nil
	case r.liberties.Takes(libertyBusy):
		return nil, apierrors.NewConflict(v1alpha1.Resource("packagerevisions"), name,
			errors.New("another request for it is in progress"))
	}
	return func() {}, nil
}

// checkVersion checks that an update names a version; the store checks that it is the current one.
func (r *revisions) checkVersion(ctx context.Context, after, before runtime.Object) error {
	revision, stored := after.(*v1alpha1.PackageRevision), before.(*v1alpha1.PackageRevision)
	if stored.ResourceVersion == "" {
		return nil // it is being created
	}
	if err := r.rulesIn(ctx).CheckVersion(revision.ResourceVersion); err != nil {
		return err
	}
	return r.versions.misbehave(r.rulesIn(ctx), requestOf(ctx).way, revision, stored)
}

// Delete deletes any version of a revision.
func (r *revisions) Delete(ctx context.Context, name string, check rest.ValidateObjectFunc,
	options *metav1.DeleteOptions,
) (runtime.Object, bool, error) {
	defer r.locks.lock(genericapirequest.NamespaceValue(ctx))()
	if r.rulesIn(ctx).Has(engine.DeleteNeedsVersion) && (options.Preconditions == nil ||
		options.Preconditions.ResourceVersion == nil) {
		return nil, false, apierrors.NewBadRequest("resourceVersion must be specified for a deletion")
	}
	return r.Store.Delete(ctx, name, check, unconditional(options))
}

// existing lists the revisions of the request's namespace.
func (r *revisions) existing(ctx context.Context) ([]v1alpha1.PackageRevision, error) {
	list, err := r.List(ctx, &internalversion.ListOptions{})
	if err != nil {
		return nil, err
	}
	return list.(*v1alpha1.PackageRevisionList).Items, nil
}

// rulesIn are the rules in a request's namespace.
func (r *revisions) rulesIn(ctx context.Context) engine.Rules {
	return r.rules.In(genericapirequest.NamespaceValue(ctx))
}

func (r *revisions) statusOf(ctx context.Context, name string, err error) error {
	return statusOf(r.rulesIn(ctx), v1alpha1.Resource("packagerevisions"), name, otherwise(r.liberties, err))
}

func (r *revisions) get(ctx context.Context, name string) (*v1alpha1.PackageRevision, error) {
	object, err := r.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return object.(*v1alpha1.PackageRevision), nil
}
