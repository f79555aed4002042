package simulator

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
	"github.com/rehearse-dev/rehearse/suites/porch/packages"
)

// taskError is the failure of a task, after all checks have passed.
type taskError struct{ error }

func (e *taskError) Unwrap() error { return e.error }

// carryOut creates a new revision's content. Nothing has been written yet.
func (r *revisions) carryOut(ctx context.Context, revision *v1alpha1.PackageRevision,
	existing []v1alpha1.PackageRevision,
) (map[string]string, error) {
	if len(revision.Spec.Tasks) == 0 {
		return map[string]string{}, nil
	}
	switch task := revision.Spec.Tasks[0]; {
	case task.Type == v1alpha1.TaskTypeInit:
		return engine.NewContent(&revision.Spec, task.Init)
	case task.Type == v1alpha1.TaskTypeClone && task.Clone != nil:
		return r.clone(ctx, revision, task.Clone.Upstream, existing)
	case task.Type == v1alpha1.TaskTypeEdit && task.Edit != nil && task.Edit.Source != nil:
		source, files, err := source(ctx, r.contents, task.Edit.Source.Name, existing)
		if err == nil {
			revision.Status.UpstreamLock = source.Status.UpstreamLock.DeepCopy()
		}
		return files, err
	case task.Type == v1alpha1.TaskTypeUpgrade && task.Upgrade != nil:
		return r.upgrade(ctx, revision, task.Upgrade, existing)
	}
	return map[string]string{}, nil
}

func (r *revisions) clone(ctx context.Context, revision *v1alpha1.PackageRevision, upstream v1alpha1.UpstreamPackage,
	existing []v1alpha1.PackageRevision,
) (map[string]string, error) {
	var files map[string]string
	var from v1alpha1.GitLock
	switch {
	case upstream.Git != nil:
		read, commit, err := packages.Repository{URL: upstream.Git.Repo}.Read(ctx, upstream.Git.Ref, upstream.Git.Directory)
		if err != nil {
			return nil, cannot("clone", err)
		}
		files, from = read, v1alpha1.GitLock{
			Repo: upstream.Git.Repo, Ref: upstream.Git.Ref,
			Directory: upstream.Git.Directory, Commit: commit.String(),
		}
	case upstream.UpstreamRef != nil:
		source, read, err := source(ctx, r.contents, upstream.UpstreamRef.Name, existing)
		if err != nil {
			return nil, err
		}
		files, from = read, *source.Status.Content
	default:
		return map[string]string{}, nil
	}
	if r.rulesIn(ctx).Has(engine.CloneStartsEmpty) {
		var err error
		if files, err = engine.NewContent(&revision.Spec, nil); err != nil {
			return nil, err
		}
	}
	return r.adopt(ctx, revision, files, from)
}

// adopt copies upstream's files to the revision.
func (r *revisions) adopt(ctx context.Context, revision *v1alpha1.PackageRevision, files map[string]string,
	from v1alpha1.GitLock,
) (map[string]string, error) {
	adopted, err := engine.Adopt(&revision.Spec, files, from)
	if err != nil {
		return nil, &engine.Rejection{Class: engine.Unprocessable, Field: "spec.tasks[0]", Text: err.Error()}
	}
	if !r.rulesIn(ctx).Has(engine.UpstreamLockMissing) {
		revision.Status.UpstreamLock = &v1alpha1.UpstreamLock{Type: "git", Git: &from}
	}
	return adopted, nil
}

func (r *revisions) upgrade(ctx context.Context, revision *v1alpha1.PackageRevision,
	task *v1alpha1.PackageUpgradeTaskSpec, existing []v1alpha1.PackageRevision,
) (map[string]string, error) {
	var sides [3]map[string]string
	var sources [3]*v1alpha1.PackageRevision
	for i, ref := range []v1alpha1.PackageRevisionRef{task.OldUpstream, task.NewUpstream, task.LocalPackageRevision} {
		var err error
		if sources[i], sides[i], err = source(ctx, r.contents, ref.Name, existing); err != nil {
			if !r.rulesIn(ctx).Has(engine.MissingSourceIgnored) {
				return nil, err
			}
			sources[i],
				sides[i] = &v1alpha1.PackageRevision{Status: v1alpha1.PackageRevisionStatus{Content: &v1alpha1.GitLock{}}},
				map[string]string{}
		}
	}
	merged, err := r.rulesIn(ctx).Merge(sides[0], sides[1], sides[2])
	if err != nil {
		return nil, &engine.Rejection{Class: engine.Unprocessable, Field: "spec.tasks[0].upgrade", Text: err.Error()}
	}
	return r.adopt(ctx, revision, merged, *sources[1].Status.Content)
}

// source finds a revision of the namespace, and its content.
func source(ctx context.Context, contents *contents, name string,
	existing []v1alpha1.PackageRevision,
) (*v1alpha1.PackageRevision, map[string]string, error) {
	i := slices.IndexFunc(existing, func(revision v1alpha1.PackageRevision) bool { return revision.Name == name })
	if i < 0 {
		return nil, nil, &engine.Rejection{
			Class: engine.Unprocessable, Field: "spec.tasks[0]",
			Text: fmt.Sprintf("source revision %s not found", name),
		}
	}
	files, err := contents.of(ctx, &existing[i])
	if err != nil {
		return nil, nil, err
	}
	return &existing[i], files, nil
}

// cannot distinguishes a repository that cannot be reached from one that lacks something.
func cannot(do string, err error) error {
	if packages.Unreachable(err) {
		return apierrors.NewInternalError(fmt.Errorf("%s: %w", do, err))
	}
	return &engine.Rejection{Class: engine.Unprocessable, Field: "spec.tasks[0]", Text: fmt.Sprintf("cannot %s: %s", do,
		err)}
}
