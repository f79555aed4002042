package engine

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
)

// Way is the way in which an update is requested.
type Way int

// The ways of an update.
const (
	// Plain is an update of the revision itself.
	Plain Way = iota
	// Approval is an update through the subresource approval.
	Approval
)

var lifecycles = []v1alpha1.PackageRevisionLifecycle{
	v1alpha1.Draft, v1alpha1.Proposed, v1alpha1.Published,
	v1alpha1.DeletionProposed,
}

// CheckVersion checks that an update names a version. The storage checks that it is the current one.
func (r Rules) CheckVersion(given string) error {
	if given != "" || r.Has(VersionNotRequired) {
		return nil
	}
	class := BadRequest
	if r.Reads(MissingVersionIsInvalid) {
		class = Unprocessable
	}
	return reject(class, "metadata.resourceVersion", "resourceVersion must be specified for an update")
}

// CheckUpdate checks a change of a revision's spec.
func (r Rules) CheckUpdate(before, after *v1alpha1.PackageRevisionSpec, way Way) error {
	if !slices.Contains(lifecycles, before.Lifecycle) && !r.Has(OriginalUnchecked) {
		return reject(BadRequest, "spec.lifecycle", "invalid original lifecycle value: %s", before.Lifecycle)
	}
	if !slices.Contains(lifecycles, after.Lifecycle) && !r.Has(DesiredUnchecked) {
		return reject(BadRequest, "spec.lifecycle", "invalid desired lifecycle value: %s", after.Lifecycle)
	}
	for i := range after.Tasks {
		if reflect.DeepEqual(before.Tasks, after.Tasks) {
			break // stored tasks were already checked
		}
		if err := checkTask(r, &after.Tasks[i]); err != nil {
			return err
		}
	}
	if err := r.checkTransition(before.Lifecycle, after.Lifecycle, way); err != nil {
		return err
	}
	return r.checkSpecUpdate(before, after)
}

// checkTransition allows the transitions of the lifecycle's state machine.
func (r Rules) checkTransition(before, after v1alpha1.PackageRevisionLifecycle, way Way) error {
	if before == after || !slices.Contains(lifecycles, before) || !slices.Contains(lifecycles, after) {
		return nil
	}
	type step struct {
		from, to v1alpha1.PackageRevisionLifecycle
	}
	plain := map[step]bool{
		{v1alpha1.Draft, v1alpha1.Proposed}:             true,
		{v1alpha1.Proposed, v1alpha1.Draft}:             true,
		{v1alpha1.Published, v1alpha1.DeletionProposed}: true,
		{v1alpha1.DeletionProposed, v1alpha1.Published}: !r.Has(DeletionProposedIsFinal),
		{v1alpha1.Draft, v1alpha1.Published}:            r.Has(ReviewBypassed),
		{v1alpha1.Published, v1alpha1.Draft}:            r.Has(PublishedBackToDraft),
	}
	approval := map[step]bool{
		{v1alpha1.Proposed, v1alpha1.Published}:         !r.Has(ApprovalRejected),
		{v1alpha1.Proposed, v1alpha1.Draft}:             true,
		{v1alpha1.DeletionProposed, v1alpha1.Published}: !r.Has(DeletionProposedIsFinal),
		{v1alpha1.Draft, v1alpha1.Published}:            r.Has(DraftsApproved),
	}
	wanted := step{before, after}
	switch {
	case way == Approval && approval[wanted], way == Plain && plain[wanted]:
		return nil
	case way == Approval && before == v1alpha1.Draft:
		return reject(Unprocessable, "spec.lifecycle", "cannot approve package with %s lifecycle value; only Proposed "+
			"packages can be approved", before)
	case before == v1alpha1.Proposed && after == v1alpha1.Published:
		return reject(Unprocessable, "spec.lifecycle", "a %s package revision becomes %s by its approval; update the "+
			"subresource approval", before, after)
	}
	return reject(Unprocessable, "spec.lifecycle", "a package revision cannot go from lifecycle %s to %s", before, after)
}

// checkSpecUpdate allows changes of a draft's tasks, and no others except of the lifecycle.
func (r Rules) checkSpecUpdate(before, after *v1alpha1.PackageRevisionSpec) error {
	if before.PackageName != after.PackageName || before.RepositoryName != after.RepositoryName ||
		before.WorkspaceName != after.WorkspaceName || before.Revision != after.Revision {
		if !(r.Has(PublishedSpecMutable) && before.Lifecycle == v1alpha1.Published) {
			return immutable(r, "spec", "package, repository, workspace and revision of a package revision cannot change")
		}
	}
	if reflect.DeepEqual(before.Tasks, after.Tasks) {
		return nil
	}
	if mutable(r, before.Lifecycle) || (r.Has(PublishedSpecMutable) && before.Lifecycle == v1alpha1.Published) {
		if r.Has(OneTaskForEver) && len(after.Tasks) > 1 {
			return reject(BadRequest, "spec.tasks", "task list must not contain more than one task")
		}
		return nil
	}
	return immutable(r, "spec.tasks", "cannot update the tasks of a package revision with lifecycle value %q; package "+
		"must be Draft", before.Lifecycle)
}

// CheckContentUpdate checks a change of a revision's files.
func (r Rules) CheckContentUpdate(lifecycle v1alpha1.PackageRevisionLifecycle) error {
	switch {
	case !slices.Contains(lifecycles, lifecycle):
		return reject(BadRequest, "spec.lifecycle", "invalid original lifecycle value: %s", lifecycle)
	case mutable(r, lifecycle),
		r.Has(ProposedContentMutable) && lifecycle == v1alpha1.Proposed,
		r.Has(PublishedContentMutable) && (lifecycle == v1alpha1.Published || lifecycle == v1alpha1.DeletionProposed):
		return nil
	}
	return immutable(r, "spec.resources",
		"cannot update a package revision with lifecycle value %q; package must be Draft",
		lifecycle)
}

func mutable(r Rules, lifecycle v1alpha1.PackageRevisionLifecycle) bool {
	return lifecycle == v1alpha1.Draft || (lifecycle == v1alpha1.Proposed && r.Reads(ProposedFullUpdate))
}

func immutable(r Rules, field, format string, args ...any) error {
	class := Unprocessable
	if r.Reads(ImmutableIsForbidden) {
		class = Forbidden
	}
	return &Rejection{Class: class, Field: field, Text: fmt.Sprintf(format, args...), Immutable: true}
}
