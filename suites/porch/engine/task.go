package engine

import (
	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
)

// checkTask checks that a task's type is known, and that the task has what the type needs.
func checkTask(r Rules, task *v1alpha1.Task) error {
	const field = "spec.tasks[0].type"
	for fault, unknown := range map[string]v1alpha1.TaskType{
		InitUnknown: v1alpha1.TaskTypeInit, CloneUnknown: v1alpha1.TaskTypeClone, EditUnknown: v1alpha1.TaskTypeEdit,
		UpgradeUnknown: v1alpha1.TaskTypeUpgrade,
	} {
		if r.Has(fault) && task.Type == unknown {
			return reject(BadRequest, field, "task of type %q not supported", task.Type)
		}
	}
	var missing string
	switch task.Type {
	case v1alpha1.TaskTypeInit:
		missing = missingOf(task.Init == nil, "init")
	case v1alpha1.TaskTypeClone:
		missing = missingOfClone(task.Clone)
	case v1alpha1.TaskTypeEdit:
		missing = missingOf(task.Edit == nil || task.Edit.Source == nil || task.Edit.Source.Name == "", "edit.sourceRef.name")
	case v1alpha1.TaskTypeUpgrade:
		missing = missingOfUpgrade(task.Upgrade)
	default:
		if r.Has(TaskTypeUnchecked) {
			return nil
		}
		return reject(BadRequest, field, "task of type %q not supported; it must be one of init, clone, edit, upgrade",
			task.Type)
	}
	if missing == "" || r.Has(MissingBodyAccepted) {
		return nil
	}
	return reject(BadRequest, "spec.tasks[0]."+missing, "%s not set for task of type %q", missing, task.Type)
}

func missingOf(is bool, what string) string {
	if is {
		return what
	}
	return ""
}

func missingOfClone(clone *v1alpha1.PackageCloneTaskSpec) string {
	switch {
	case clone == nil:
		return "clone"
	case clone.Upstream.Git != nil:
		return missingOf(clone.Upstream.Git.Repo == "" || clone.Upstream.Git.Ref == "", "clone.upstreamRef.git")
	default:
		return missingOf(clone.Upstream.UpstreamRef == nil || clone.Upstream.UpstreamRef.Name == "", "clone.upstreamRef")
	}
}

func missingOfUpgrade(upgrade *v1alpha1.PackageUpgradeTaskSpec) string {
	switch {
	case upgrade == nil:
		return "upgrade"
	case upgrade.OldUpstream.Name == "":
		return "upgrade.oldUpstreamRef.name"
	case upgrade.NewUpstream.Name == "":
		return "upgrade.newUpstreamRef.name"
	default:
		return missingOf(upgrade.LocalPackageRevision.Name == "", "upgrade.localPackageRevisionRef.name")
	}
}
