package engine

import (
	"path"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
)

// CheckConstraints checks a new revision against the existing ones in its namespace, after its repository was opened
// and before anything changes.
func (r Rules) CheckConstraints(spec *v1alpha1.PackageRevisionSpec, existing []Revision) error {
	var task v1alpha1.Task
	if len(spec.Tasks) > 0 {
		task = spec.Tasks[0]
	}
	if err := r.checkWorkspace(spec, existing); err != nil {
		return err
	}
	switch task.Type {
	case v1alpha1.TaskTypeClone:
		if err := r.checkClone(spec, existing); err != nil {
			return err
		}
		return r.checkPath(spec, existing)
	case v1alpha1.TaskTypeInit:
		if err := r.checkPath(spec, existing); err != nil {
			return err
		}
		return r.checkInit(spec, existing)
	case v1alpha1.TaskTypeEdit:
		if r.Has(EditIsCreation) {
			if err := r.checkInit(spec, existing); err != nil {
				return err
			}
			return r.checkPath(spec, existing)
		}
		if err := r.checkPathOfAnyTask(spec, existing); err != nil {
			return err
		}
		return r.checkEdit(spec, task.Edit, existing)
	case v1alpha1.TaskTypeUpgrade:
		if err := r.checkPathOfAnyTask(spec, existing); err != nil {
			return err
		}
		return r.checkUpgrade(task.Upgrade, existing)
	}
	return nil
}

// same reports whether a revision belongs to the package that the spec names.
func same(r Rules, spec *v1alpha1.PackageRevisionSpec, revision Revision) bool {
	name := revision.Spec.PackageName
	if r.Has(LastElementCompared) {
		name = path.Base(name)
	}
	return name == spec.PackageName
}

func here(spec *v1alpha1.PackageRevisionSpec, revision Revision) bool {
	return revision.Spec.RepositoryName == spec.RepositoryName
}

func (r Rules) checkWorkspace(spec *v1alpha1.PackageRevisionSpec, existing []Revision) error {
	for _, revision := range existing {
		switch {
		case r.Has(CreateOverwrites), r.Has(OnlyDraftWorkspaces) && revision.Spec.Lifecycle != v1alpha1.Draft:
			continue
		case !here(spec, revision) && !r.Has(WorkspaceUniqueEverywhere):
			continue
		case !same(r, spec, revision) && !r.Has(WorkspaceUniqueInRepository) && !r.Has(WorkspaceUniqueEverywhere):
			continue
		case r.Has(OneRevisionPerPackage), revision.Spec.WorkspaceName == spec.WorkspaceName:
			if r.Has(NoContext) {
				return reject(Conflict, "spec.workspaceName", "package revision workspaceNames must be unique")
			}
			return reject(Conflict, "spec.workspaceName",
				"package revision workspaceNames must be unique; package revision with name %s in repo %s with workspaceName %s "+
					"already exists",
				spec.PackageName, spec.RepositoryName, spec.WorkspaceName)
		}
	}
	return nil
}

func (r Rules) checkClone(spec *v1alpha1.PackageRevisionSpec, existing []Revision) error {
	if r.Has(CloneOntoExisting) {
		return nil
	}
	for _, revision := range existing {
		if !same(r, spec, revision) || (!here(spec, revision) && !r.Has(CloneLooksEverywhere)) {
			continue
		}
		if r.Has(NoContext) {
			return reject(Unprocessable, "spec.packageName",
				"clone cannot create a new revision for a package that already exists")
		}
		return reject(Unprocessable, "spec.packageName",
			"clone cannot create a new revision for package %s that already exists in repo %s; make subsequent revisions "+
				"using copy",
			spec.PackageName, spec.RepositoryName)
	}
	return nil
}

func (r Rules) checkInit(spec *v1alpha1.PackageRevisionSpec, existing []Revision) error {
	if r.Reads(InitAgain) || r.Has(CreateOverwrites) {
		return nil
	}
	for _, revision := range existing {
		if here(spec, revision) && same(r, spec, revision) {
			return reject(Conflict, "spec.packageName", "package %q already exists in repository %q; make subsequent "+
				"revisions using copy", spec.PackageName, spec.RepositoryName)
		}
	}
	return nil
}

func (r Rules) checkEdit(spec *v1alpha1.PackageRevisionSpec, edit *v1alpha1.PackageEditTaskSpec,
	existing []Revision,
) error {
	const field = "spec.tasks[0].edit.sourceRef.name"
	if edit == nil || edit.Source == nil || r.Has(EditSourceUnchecked) {
		return nil
	}
	source, found := find(existing, edit.Source.Name)
	switch {
	case !found:
		return reject(Unprocessable, field, "source revision %s not found", edit.Source.Name)
	case source.Spec.Lifecycle != v1alpha1.Published:
		return reject(Unprocessable, field, "source revision must be published, %s is not", source.Name)
	case !here(spec, source) || source.Spec.PackageName != spec.PackageName:
		return reject(Unprocessable, field, "source revision must be from same package %s/%s, %s is not", spec.RepositoryName,
			spec.PackageName, source.Name)
	}
	return nil
}

// checkPath rejects a package whose path is inside or above the path of another.
func (r Rules) checkPath(spec *v1alpha1.PackageRevisionSpec, existing []Revision) error {
	for _, revision := range existing {
		if (here(spec, revision) || r.Has(OverlapEverywhere)) && overlaps(r, spec.PackageName, revision.Spec.PackageName) {
			return reject(Conflict, "spec.packageName", "package path %q conflicts with existing package %q in repository "+
				"%q: packages cannot be nested",
				spec.PackageName, revision.Spec.PackageName, spec.RepositoryName)
		}
	}
	return nil
}

// checkPathOfAnyTask checks the path of a revision whose task creates no package, if there is that bug.
func (r Rules) checkPathOfAnyTask(spec *v1alpha1.PackageRevisionSpec, existing []Revision) error {
	if !r.Has(OverlapOfAllTasks) {
		return nil
	}
	return r.checkPath(spec, existing)
}

func overlaps(r Rules, name, existing string) bool {
	step := "/"
	switch {
	case r.Has(PrefixOverlaps):
		step = ""
	case r.Has(LastElementOverlaps):
		existing = path.Base(existing)
	}
	if r.Has(TopLevelOverlaps) && (!strings.Contains(name, "/") || !strings.Contains(existing, "/")) {
		return false
	}
	if r.Has(SiblingsOverlap) && strings.Contains(name, "/") && path.Dir(name) == path.Dir(existing) && name != existing {
		return true
	}
	if name == existing {
		return false // the same package, which another rule checks
	}
	parent := strings.HasPrefix(existing, name+step) && !r.Has(ParentPathAllowed)
	child := strings.HasPrefix(name, existing+step) && !r.Has(ChildPathAllowed)
	return parent || child
}

func find(existing []Revision, name string) (Revision, bool) {
	i := slices.IndexFunc(existing, func(revision Revision) bool { return revision.Name == name })
	if i < 0 {
		return Revision{}, false
	}
	return existing[i], true
}
