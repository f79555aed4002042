package engine

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
)

// Default sets the defaults of a new revision: the lifecycle Draft, and one init task.
func (r Rules) Default(spec *v1alpha1.PackageRevisionSpec) {
	if spec.Lifecycle == "" {
		spec.Lifecycle = v1alpha1.Draft
		if r.Has(DefaultsToProposed) {
			spec.Lifecycle = v1alpha1.Proposed
		}
	}
	if len(spec.Tasks) == 0 && !r.Has(NoDefaultTask) {
		spec.Tasks = []v1alpha1.Task{{
			Type: v1alpha1.TaskTypeInit,
			Init: &v1alpha1.PackageInitTaskSpec{Description: spec.PackageName + " description"},
		}}
	}
}

// CheckNew checks a new revision by itself, before any repository is opened.
func (r Rules) CheckNew(spec *v1alpha1.PackageRevisionSpec) error {
	for _, check := range []func(*v1alpha1.PackageRevisionSpec) error{
		r.checkNames, r.checkNewLifecycle,
		r.checkTaskCount,
	} {
		if err := check(spec); err != nil {
			return err
		}
	}
	for i := range spec.Tasks {
		if err := checkTask(r, &spec.Tasks[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r Rules) checkNames(spec *v1alpha1.PackageRevisionSpec) error {
	for field, value := range map[string]string{
		"spec.repositoryName": spec.RepositoryName,
		"spec.packageName":    spec.PackageName,
	} {
		if value == "" {
			return reject(BadRequest, field, "%s is required", field)
		}
	}
	for _, element := range strings.Split(spec.PackageName, "/") {
		if problems := validation.IsDNS1123Label(element); len(problems) > 0 {
			return reject(BadRequest, "spec.packageName", "invalid package name %q: %s", spec.PackageName,
				strings.Join(problems, "; "))
		}
	}
	if r.Has(WorkspaceNameUnchecked) {
		return nil
	}
	if problems := validation.IsDNS1123Label(spec.WorkspaceName); len(problems) > 0 {
		return reject(BadRequest, "spec.workspaceName", "invalid workspace name %q of package %s: %s", spec.WorkspaceName,
			spec.PackageName, strings.Join(problems, "; "))
	}
	return nil
}

func (r Rules) checkNewLifecycle(spec *v1alpha1.PackageRevisionSpec) error {
	const field = "spec.lifecycle"
	final := "Final"
	if r.Has(NamesTheValue) {
		final = string(spec.Lifecycle)
	}
	switch spec.Lifecycle {
	case "":
		return nil
	case v1alpha1.Draft:
		if r.Has(LifecycleMustBeOmitted) {
			return reject(BadRequest, field, "unsupported lifecycle value: %s", spec.Lifecycle)
		}
		return nil
	case v1alpha1.Proposed:
		if r.Has(CreatesOnlyDrafts) || r.Has(LifecycleMustBeOmitted) {
			return reject(BadRequest, field, "unsupported lifecycle value: %s", spec.Lifecycle)
		}
		return nil
	case v1alpha1.Published:
		if r.Has(PublishedAtCreation) {
			return nil
		}
		return reject(BadRequest, field, "cannot create a package revision with lifecycle value '%s'", final)
	case v1alpha1.DeletionProposed:
		if r.Has(DeletionProposedAtCreation) {
			return nil
		}
		return reject(BadRequest, field, "cannot create a package revision with lifecycle value '%s'", final)
	}
	if r.Has(LifecycleCaseIgnored) && strings.EqualFold(string(spec.Lifecycle), string(v1alpha1.Draft)) {
		return nil
	}
	return reject(BadRequest, field, "unsupported lifecycle value: %s", spec.Lifecycle)
}

func (r Rules) checkTaskCount(spec *v1alpha1.PackageRevisionSpec) error {
	if len(spec.Tasks) > 1 && !r.Has(ManyTasks) {
		return reject(BadRequest, "spec.tasks", "task list must not contain more than one task")
	}
	return nil
}
