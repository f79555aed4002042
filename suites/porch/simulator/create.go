package simulator

import (
	"context"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/warning"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
	"github.com/rehearse-dev/rehearse/suites/porch/packages"
)

const (
	// storedLifecycle is an annotation for tests: in the variant for it, a new revision is stored with this lifecycle,
	// which no request could give it.
	storedLifecycle = "simulator.rehearse.dev/stored-lifecycle"
	// skipValidation is an annotation that turns the rules off, if the simulator has that bug.
	skipValidation = "porch.kpt.dev/skip-validation"
	// undoPatience is how long the rollback of a failed write may take.
	undoPatience = 10 * time.Second
)

// draftBranch and proposedBranch have unpublished content; a tag has published content.
func draftBranch(spec *v1alpha1.PackageRevisionSpec) plumbing.ReferenceName {
	return plumbing.NewBranchReferenceName("drafts/" + spec.PackageName + "/" + spec.WorkspaceName)
}

func proposedBranch(spec *v1alpha1.PackageRevisionSpec) plumbing.ReferenceName {
	return plumbing.NewBranchReferenceName("proposed/" + spec.PackageName + "/" + spec.WorkspaceName)
}

func tag(spec *v1alpha1.PackageRevisionSpec) plumbing.ReferenceName {
	return plumbing.NewTagReferenceName(fmt.Sprintf("%s/v%d", spec.PackageName, spec.Revision))
}

func branchOf(spec *v1alpha1.PackageRevisionSpec) plumbing.ReferenceName {
	if spec.Lifecycle == v1alpha1.Proposed {
		return proposedBranch(spec)
	}
	return draftBranch(spec)
}

// beginCreate validates a new revision and prepares its content. The returned function removes the content if the
// revision is not stored after all.
func (r *revisions) beginCreate(ctx context.Context, object runtime.Object,
	options *metav1.CreateOptions,
) (registry.FinishFunc, error) {
	revision, request := object.(*v1alpha1.PackageRevision), requestOf(ctx)
	if request.unjudged {
		r.rulesIn(ctx).Default(&revision.Spec)
		r.name(ctx, revision)
		return func(context.Context, bool) {}, nil
	}
	liberal(ctx, r.liberties, revision)
	repository, err := r.judge(ctx, revision)
	if err != nil {
		return nil, err
	}
	if r.name(ctx, revision); request.name != "" && request.name != revision.Name {
		return nil, &engine.Rejection{
			Class: engine.BadRequest, Field: "metadata.name",
			Text: fmt.Sprintf("the object of this package revision is named %s", revision.Name),
		}
	}
	files, err := r.constrained(ctx, revision)
	if err != nil {
		return nil, err
	}
	request.prepared, err = repository.Prepare(ctx, packages.Change{
		Directory: revision.Spec.PackageName, Files: files, Message: "Create " + revision.Name, At: time.Now(),
		Onto: plumbing.NewBranchReferenceName(repository.Branch), Set: []plumbing.ReferenceName{branchOf(&revision.Spec)},
	})
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	branch := branchOf(&revision.Spec)
	revision.Status.Content = &v1alpha1.GitLock{
		Repo: repository.URL, Directory: revision.Spec.PackageName, Ref: branch.String(),
		Commit: request.prepared.Commit.String(),
	}
	if value := revision.Annotations[storedLifecycle]; value != "" && r.rules.StoresAnything() {
		revision.Spec.Lifecycle = v1alpha1.PackageRevisionLifecycle(value)
	}
	return func(ctx context.Context, stored bool) {
		if !stored && len(options.DryRun) == 0 {
			r.undo(ctx, repository, branch)
		}
	}, nil
}

// judge validates a new revision by itself, and then opens its repository.
func (r *revisions) judge(ctx context.Context, revision *v1alpha1.PackageRevision) (packages.Repository, error) {
	namespace := genericapirequest.NamespaceValue(ctx)
	if r.rulesIn(ctx).Has(engine.OpensFirst) {
		if _, err := r.repositories.open(ctx, namespace, revision.Spec.RepositoryName); err != nil {
			return packages.Repository{}, err
		}
	}
	switched := r.rulesIn(ctx).Has(engine.ValidationSwitch) && revision.Annotations[skipValidation] != ""
	if err := r.rulesIn(ctx).CheckNew(&revision.Spec); err != nil && !switched {
		return packages.Repository{}, err
	}
	r.rulesIn(ctx).Default(&revision.Spec)
	revision.Spec.Revision, revision.Status = 0, v1alpha1.PackageRevisionStatus{}
	return r.repositories.open(ctx, namespace, revision.Spec.RepositoryName)
}

// name sets the object's name to the required one.
func (r *revisions) name(ctx context.Context, revision *v1alpha1.PackageRevision) {
	given, name := revision.Name, r.rulesIn(ctx).Name(&revision.Spec)
	if given != "" && r.rulesIn(ctx).Has(engine.GivenNameKept) {
		return
	}
	if given != "" && given != name {
		warning.AddWarning(ctx, "", fmt.Sprintf("metadata.name %q is ignored: the object of a package revision is named "+
			"after it, %q", given, name))
	}
	revision.Name, revision.GenerateName = name, ""
}

// constrained checks the revision for conflicts with others, and runs its task.
func (r *revisions) constrained(ctx context.Context, revision *v1alpha1.PackageRevision) (map[string]string, error) {
	existing, err := r.existing(ctx)
	if err != nil {
		return nil, err
	}
	var others []engine.Revision
	for i := range existing {
		others = append(others, engine.Revision{Name: existing[i].Name, Spec: existing[i].Spec})
	}
	rejection := r.rulesIn(ctx).CheckConstraints(&revision.Spec, others)
	if rejection != nil && !r.rulesIn(ctx).Has(engine.ConstraintsAfterTask) {
		return nil, rejection
	}
	files, err := r.carryOut(ctx, revision, existing)
	if err != nil {
		return nil, &taskError{err}
	}
	return files, rejection
}

// undo deletes the branches and tags of a revision that was not stored, or was deleted.
func (r *revisions) undo(ctx context.Context, repository packages.Repository, branches ...plumbing.ReferenceName) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoPatience)
	defer cancel()
	if err := repository.Remove(ctx, branches...); err != nil {
		r.logger.Error(err, "a branch of a revision that does not exist could not be deleted", "branches", branches)
	}
}
