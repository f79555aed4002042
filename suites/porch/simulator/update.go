package simulator

import (
	"context"
	"reflect"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic/registry"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
	"github.com/rehearse-dev/rehearse/suites/porch/packages"
)

// beginUpdate validates a change, and prepares its effect on the repository.
func (r *revisions) beginUpdate(ctx context.Context, object, stored runtime.Object,
	_ *metav1.UpdateOptions,
) (registry.FinishFunc, error) {
	after, before, request := object.(*v1alpha1.PackageRevision), stored.(*v1alpha1.PackageRevision), requestOf(ctx)
	done := func(context.Context, bool) {}
	after.Status = *before.Status.DeepCopy()
	if request.content != nil {
		after.Status.Content = request.content
	}
	if request.unjudged {
		return done, nil
	}
	liberal(ctx, r.liberties, after)
	err := r.rulesIn(ctx).CheckUpdate(&before.Spec, &after.Spec, request.way)
	switch {
	case ignores(r.liberties, err):
		lifecycle := after.Spec.Lifecycle
		after.Spec = *before.Spec.DeepCopy()
		after.Spec.Lifecycle = lifecycle
	case err != nil:
		return nil, err
	}
	if frozen(r.rulesIn(ctx), before.Spec.Lifecycle) && !reflect.DeepEqual(before.Labels, after.Labels) {
		return nil, &engine.Rejection{
			Class: engine.Unprocessable, Field: "metadata",
			Text: "this package revision cannot be changed",
		}
	}
	misplaceTasks(r.rulesIn(ctx), before, after)
	return done, r.transition(ctx, request, before, after)
}

// misplaceTasks changes the tasks of an update as faults do.
func misplaceTasks(rules engine.Rules, before, after *v1alpha1.PackageRevision) {
	switch {
	case rules.Has(engine.DraftTasksDropped) && before.Spec.Lifecycle == v1alpha1.Draft:
		after.Spec.Tasks = before.DeepCopy().Spec.Tasks
	case rules.Has(engine.PublishedTasksDropped) && before.Spec.Lifecycle == v1alpha1.Published &&
		reflect.DeepEqual(before.Spec, after.Spec):
		after.Spec.Tasks = nil
	}
}

// frozen reports whether a fault makes the labels of revisions with this lifecycle immutable.
func frozen(rules engine.Rules, lifecycle v1alpha1.PackageRevisionLifecycle) bool {
	return (rules.Has(engine.PublishedMetadataFrozen) && lifecycle == v1alpha1.Published) ||
		(rules.Has(engine.ProposedMetadataFrozen) && lifecycle == v1alpha1.Proposed)
}

// transition prepares the effect of a changed lifecycle on the repository.
func (r *revisions) transition(ctx context.Context, request *request, before, after *v1alpha1.PackageRevision) error {
	from, to := before.Spec.Lifecycle, after.Spec.Lifecycle
	unpublished := func(lifecycle v1alpha1.PackageRevisionLifecycle) bool {
		return lifecycle == v1alpha1.Draft || lifecycle == v1alpha1.Proposed
	}
	switch {
	case from == to || !unpublished(from):
		return nil
	case to == v1alpha1.Published:
		return r.publish(ctx, request, before, after)
	case !unpublished(to):
		return nil
	}
	repository, err := r.repositories.open(ctx, after.Namespace, after.Spec.RepositoryName)
	if err != nil {
		return err
	}
	if request.prepared, err = repository.PrepareRename(ctx, branchOf(&before.Spec), branchOf(&after.Spec)); err != nil {
		return apierrors.NewInternalError(err)
	}
	after.Status.Content.Ref = branchOf(&after.Spec).String()
	return nil
}

// publish gives a revision its number, and puts its content on the repository's branch and under a tag.
func (r *revisions) publish(ctx context.Context, request *request, before, after *v1alpha1.PackageRevision) error {
	repository, err := r.repositories.open(ctx, after.Namespace, after.Spec.RepositoryName)
	if err != nil {
		return err
	}
	existing, err := r.existing(ctx)
	if err != nil {
		return err
	}
	for _, other := range existing {
		if other.Spec.RepositoryName == after.Spec.RepositoryName && other.Spec.PackageName == after.Spec.PackageName {
			after.Spec.Revision = max(after.Spec.Revision, other.Spec.Revision+1)
		}
	}
	files, err := r.contents.of(ctx, before)
	if err != nil {
		return err
	}
	request.prepared, err = repository.Prepare(ctx, packages.Change{
		Directory: after.Spec.PackageName, Files: files, Message: "Publish " + after.Name, At: time.Now(),
		Onto: plumbing.NewBranchReferenceName(repository.Branch), Move: true,
		Set:    []plumbing.ReferenceName{tag(&after.Spec)},
		Remove: []plumbing.ReferenceName{draftBranch(&after.Spec), proposedBranch(&after.Spec)},
	})
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	after.Status.Content.Ref, after.Status.Content.Commit = tag(&after.Spec).String(), request.prepared.Commit.String()
	after.Status.PublishedAt = metav1.Now()
	if user, known := genericapirequest.UserFrom(ctx); known {
		after.Status.PublishedBy = user.GetName()
	}
	return nil
}

// afterDelete deletes a deleted revision's branches and tag. The branch of published packages keeps its history.
func (r *revisions) afterDelete(object runtime.Object, options *metav1.DeleteOptions) {
	revision := object.(*v1alpha1.PackageRevision)
	r.versions.forget(revision)
	if len(options.DryRun) > 0 || revision.Status.Content == nil {
		return
	}
	gone := []plumbing.ReferenceName{draftBranch(&revision.Spec), proposedBranch(&revision.Spec)}
	if revision.Spec.Revision > 0 {
		gone = append(gone, tag(&revision.Spec))
	}
	r.undo(context.Background(), packages.Repository{URL: revision.Status.Content.Repo}, gone...)
}
