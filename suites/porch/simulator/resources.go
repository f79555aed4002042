package simulator

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
	"github.com/rehearse-dev/rehearse/suites/porch/packages"
)

// resources are the contents of the revisions. They are not stored separately: both have the same version.
type resources struct {
	rest.TableConvertor
	revisions *revisions
}

// New returns an empty object for decoding.
func (s *resources) New() runtime.Object { return &v1alpha1.PackageRevisionResources{} }

// NewList returns an empty list.
func (s *resources) NewList() runtime.Object { return &v1alpha1.PackageRevisionResourcesList{} }

// Destroy does nothing: the storage of revisions does it.
func (s *resources) Destroy() {}

// NamespaceScoped like the revisions.
func (s *resources) NamespaceScoped() bool { return true }

// GetSingularName returns the singular name.
func (s *resources) GetSingularName() string { return "packagerevisionresources" }

// Get returns the content of a revision.
func (s *resources) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	revision, err := s.revisions.get(ctx, name)
	if apierrors.IsNotFound(err) {
		return nil, apierrors.NewNotFound(v1alpha1.Resource("packagerevisionresources"), name)
	}
	if err != nil {
		return nil, err
	}
	return s.of(ctx, revision)
}

// lists is how often the revisions are listed until none of them changes while its content is read.
const lists = 5

// List returns the contents of the revisions that the options select.
func (s *resources) List(ctx context.Context, options *internalversion.ListOptions) (runtime.Object, error) {
	for n := 1; ; n++ {
		object, err := s.revisions.List(ctx, options)
		if err != nil {
			return nil, err
		}
		all, settled, err := s.contents(ctx, object.(*v1alpha1.PackageRevisionList))
		if err != nil || settled || n == lists {
			return all, err
		}
	}
}

// contents reads the contents of listed revisions. It is not settled if one of them has changed since, so that its old
// content can no longer be read. An unchanged revision whose content cannot be read is omitted: it must not block the
// others.
func (s *resources) contents(ctx context.Context,
	list *v1alpha1.PackageRevisionList,
) (all *v1alpha1.PackageRevisionResourcesList, settled bool, err error) {
	all, settled = &v1alpha1.PackageRevisionResourcesList{
		ListMeta: list.ListMeta,
		Items:    []v1alpha1.PackageRevisionResources{},
	}, true
	for i := range list.Items {
		revision := &list.Items[i]
		content, unread := s.of(ctx, revision)
		if unread != nil {
			now, err := s.revisions.get(genericapirequest.WithNamespace(ctx, revision.Namespace), revision.Name)
			if err != nil && !apierrors.IsNotFound(err) {
				return nil, false, err
			}
			settled = settled && err == nil && now.ResourceVersion == revision.ResourceVersion
			content = empty(revision)
		}
		all.Items = append(all.Items, *content)
	}
	return all, settled, nil
}

// Watch follows the contents of the revisions that the options select.
func (s *resources) Watch(ctx context.Context, options *internalversion.ListOptions) (watch.Interface, error) {
	watcher, err := s.revisions.Watch(ctx, options)
	if err != nil {
		return nil, err
	}
	return watch.Filter(watcher, func(event watch.Event) (watch.Event, bool) {
		revision, ok := event.Object.(*v1alpha1.PackageRevision)
		if !ok {
			return event, true
		}
		content, err := s.of(ctx, revision)
		if err != nil {
			// The content of a deleted or changed revision can no longer be read; the event is still sent.
			content = empty(revision)
		}
		event.Object = content
		return event, true
	}), nil
}

func (s *resources) of(ctx context.Context, revision *v1alpha1.PackageRevision) (*v1alpha1.PackageRevisionResources,
	error,
) {
	files, err := s.revisions.contents.of(ctx, revision)
	if err != nil {
		return nil, err
	}
	content := empty(revision)
	content.Spec.Resources = files
	return content, nil
}

func empty(revision *v1alpha1.PackageRevision) *v1alpha1.PackageRevisionResources {
	content := &v1alpha1.PackageRevisionResources{
		ObjectMeta: *revision.ObjectMeta.DeepCopy(),
		Spec: v1alpha1.PackageRevisionResourcesSpec{
			PackageName: revision.Spec.PackageName, RepositoryName: revision.Spec.RepositoryName,
			WorkspaceName: revision.Spec.WorkspaceName, Revision: revision.Spec.Revision,
		},
	}
	content.ManagedFields = nil // those are the revision's own fields
	return content
}

// Update replaces the files of a draft.
func (s *resources) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, _ rest.ValidateObjectFunc,
	check rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	updated, err := s.update(ctx, name, info, check, options)
	return updated, false, statusOf(s.revisions.rulesIn(ctx), v1alpha1.Resource("packagerevisionresources"), name, err)
}

func (s *resources) update(ctx context.Context, name string, info rest.UpdatedObjectInfo,
	check rest.ValidateObjectUpdateFunc, options *metav1.UpdateOptions,
) (runtime.Object, error) {
	end, err := beginUpdate(ctx, s.revisions, name)
	if err != nil {
		return nil, err
	}
	defer end()
	defer s.revisions.locks.lock(genericapirequest.NamespaceValue(ctx))()
	revision, err := s.revisions.get(ctx, name)
	if err != nil {
		return nil, err
	}
	before, err := s.of(ctx, revision)
	if err != nil {
		return nil, err
	}
	object, err := info.UpdatedObject(ctx, before.DeepCopy())
	if err != nil {
		return nil, err
	}
	after := object.(*v1alpha1.PackageRevisionResources)
	err = s.judge(ctx, revision, before, after)
	if ignores(s.revisions.liberties, err) {
		return before, nil
	}
	if err != nil {
		return nil, err
	}
	if check != nil {
		if err := check(ctx, after.DeepCopy(), before); err != nil {
			return nil, err
		}
	}
	rules := s.revisions.rulesIn(ctx)
	if maps.Equal(before.Spec.Resources, after.Spec.Resources) || (rules.Has(engine.DraftContentDropped) &&
		revision.Spec.Lifecycle == v1alpha1.Draft) {
		return before, nil
	}
	return s.write(ctx, revision, after.Spec.Resources, options)
}

// judge checks the version of an update, and whether the content may change.
func (s *resources) judge(ctx context.Context, revision *v1alpha1.PackageRevision, before,
	after *v1alpha1.PackageRevisionResources,
) error {
	rules := s.revisions.rulesIn(ctx)
	if err := rules.CheckVersion(after.ResourceVersion); err != nil {
		return err
	}
	if after.ResourceVersion != before.ResourceVersion && !rules.Has(engine.StaleContentAccepted) {
		return apierrors.NewConflict(v1alpha1.Resource("packagerevisionresources"), before.Name,
			errors.New(registry.OptimisticLockErrorMsg))
	}
	if maps.Equal(before.Spec.Resources, after.Spec.Resources) {
		return nil
	}
	return rules.CheckContentUpdate(revision.Spec.Lifecycle)
}

// write commits files, and records the commit.
func (s *resources) write(ctx context.Context, revision *v1alpha1.PackageRevision, files map[string]string,
	options *metav1.UpdateOptions,
) (runtime.Object, error) {
	r := s.revisions
	repository, err := r.repositories.open(ctx, revision.Namespace, revision.Spec.RepositoryName)
	if err != nil {
		return nil, err
	}
	content := revision.Status.Content.DeepCopy()
	branch := plumbing.ReferenceName(content.Ref)
	request := &request{unjudged: true, content: content}
	request.prepared, err = repository.Prepare(ctx, packages.Change{
		Directory: content.Directory, Files: files, Message: "Update " + revision.Name, At: time.Now(), Onto: branch,
		Move: true,
	})
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	content.Commit = request.prepared.Commit.String()
	stored, _, err := r.Store.Update(withRequest(ctx, request), revision.Name,
		rest.DefaultUpdatedObjectInfo(revision.DeepCopy()),
		nil, request.update(options.DryRun, nil), false, options)
	if err != nil {
		return nil, err
	}
	written := empty(stored.(*v1alpha1.PackageRevision))
	written.Spec.Resources = files
	return written, nil
}
