package engine

import (
	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
)

// checkUpgrade checks that all three sides of the merge exist and are published.
func (r Rules) checkUpgrade(upgrade *v1alpha1.PackageUpgradeTaskSpec, existing []Revision) error {
	if upgrade == nil {
		return nil
	}
	for _, source := range []struct {
		field, name string
		unchecked   string
	}{
		{"oldUpstreamRef", upgrade.OldUpstream.Name, OldUpstreamUnchecked},
		{"newUpstreamRef", upgrade.NewUpstream.Name, NewUpstreamUnchecked},
		{"localPackageRevisionRef", upgrade.LocalPackageRevision.Name, LocalUnchecked},
	} {
		if r.Has(source.unchecked) {
			continue
		}
		if err := r.checkSource("spec.tasks[0].upgrade."+source.field+".name", source.name, existing); err != nil {
			return err
		}
	}
	return nil
}

func (r Rules) checkSource(field, name string, existing []Revision) error {
	revision, found := find(existing, name)
	if !found {
		if r.Has(MissingSourceIgnored) {
			return nil
		}
		class := Unprocessable
		if r.Reads(MissingSourceIsNotFound) {
			class = NotFound
		}
		return reject(class, field, "source PackageRevision %s of upgrade task not found", name)
	}
	if published(r, revision.Spec.Lifecycle) {
		return nil
	}
	if r.Has(NoContext) {
		return reject(Unprocessable, field, "all source PackageRevisions of upgrade task must be published")
	}
	return reject(Unprocessable, field, "all source PackageRevisions of upgrade task must be published, %s is not", name)
}

func published(r Rules, lifecycle v1alpha1.PackageRevisionLifecycle) bool {
	switch lifecycle {
	case v1alpha1.Published:
		return true
	case v1alpha1.DeletionProposed:
		return r.Reads(DeletionProposedIsPublished)
	case v1alpha1.Proposed:
		return r.Has(ProposedIsPublished)
	}
	return false
}
