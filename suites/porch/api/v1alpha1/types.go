package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PackageRevisionLifecycle is how far a revision has come.
type PackageRevisionLifecycle string

// The lifecycles of a package revision.
const (
	Draft            PackageRevisionLifecycle = "Draft"
	Proposed         PackageRevisionLifecycle = "Proposed"
	Published        PackageRevisionLifecycle = "Published"
	DeletionProposed PackageRevisionLifecycle = "DeletionProposed"
)

// PackageRevision is one revision of a package in a repository.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type PackageRevision struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PackageRevisionSpec   `json:"spec,omitempty"`
	Status PackageRevisionStatus `json:"status,omitempty"`
}

// PackageRevisionList is a list of package revisions.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type PackageRevisionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []PackageRevision `json:"items"`
}

// PackageRevisionSpec says which revision it is, how far it has come, and how it was made.
type PackageRevisionSpec struct {
	// PackageName is the package's whole path in its repository: networking/vpc.
	PackageName string `json:"packageName,omitempty"`
	// RepositoryName is the Repository of the same namespace that holds the package.
	RepositoryName string `json:"repositoryName,omitempty"`
	// WorkspaceName tells the revisions of a package apart before they are numbered.
	WorkspaceName string `json:"workspaceName,omitempty"`
	// Revision is the number that a revision gets when it is published; 0 before.
	Revision int `json:"revision,omitempty"`
	// Lifecycle is how far the revision has come. Default: Draft.
	Lifecycle PackageRevisionLifecycle `json:"lifecycle,omitempty"`
	// Tasks say how the revision's content came about. Default: one when it is created, init.
	// +listType=atomic
	Tasks []Task `json:"tasks,omitempty"`
}

// TaskType names what a task does.
type TaskType string

// The tasks that a package revision can be created with.
const (
	TaskTypeInit    TaskType = "init"
	TaskTypeClone   TaskType = "clone"
	TaskTypeEdit    TaskType = "edit"
	TaskTypeUpgrade TaskType = "upgrade"
)

// Task makes content. The field that its type names is set.
type Task struct {
	// Type of the task.
	Type TaskType `json:"type"`
	// Init makes a new package from nothing.
	Init *PackageInitTaskSpec `json:"init,omitempty"`
	// Clone makes a new package from an upstream one.
	Clone *PackageCloneTaskSpec `json:"clone,omitempty"`
	// Edit makes a new revision of a package from an earlier one.
	Edit *PackageEditTaskSpec `json:"edit,omitempty"`
	// Upgrade merges the changes between two upstream revisions into a package.
	Upgrade *PackageUpgradeTaskSpec `json:"upgrade,omitempty"`
}

// PackageInitTaskSpec describes a new package.
type PackageInitTaskSpec struct {
	// Description of the package.
	Description string `json:"description,omitempty"`
}

// PackageCloneTaskSpec says what to clone.
type PackageCloneTaskSpec struct {
	// Upstream is the source.
	Upstream UpstreamPackage `json:"upstreamRef,omitempty"`
}

// PackageEditTaskSpec says what to edit.
type PackageEditTaskSpec struct {
	// Source is an earlier, published revision of the same package.
	Source *PackageRevisionRef `json:"sourceRef,omitempty"`
}

// PackageUpgradeTaskSpec names the three sides of the merge; all are published.
type PackageUpgradeTaskSpec struct {
	// OldUpstream is the upstream revision that the local one was made of.
	OldUpstream PackageRevisionRef `json:"oldUpstreamRef,omitempty"`
	// NewUpstream is the upstream revision to upgrade to.
	NewUpstream PackageRevisionRef `json:"newUpstreamRef,omitempty"`
	// LocalPackageRevision is the revision to upgrade.
	LocalPackageRevision PackageRevisionRef `json:"localPackageRevisionRef,omitempty"`
}

// UpstreamPackage is a package somewhere else: another package revision, or a folder of a git repository.
type UpstreamPackage struct {
	// Type is git for a folder of a git repository.
	Type string `json:"type,omitempty"`
	// Git names the folder.
	Git *GitPackage `json:"git,omitempty"`
	// UpstreamRef names a package revision of the same namespace.
	UpstreamRef *PackageRevisionRef `json:"upstreamRef,omitempty"`
}

// GitPackage is a folder of a git repository.
type GitPackage struct {
	// Repo is the repository's URL.
	Repo string `json:"repo,omitempty"`
	// Ref is a branch or a tag.
	Ref string `json:"ref,omitempty"`
	// Directory of the package in the repository.
	Directory string `json:"directory,omitempty"`
}

// PackageRevisionRef names a package revision of the same namespace.
type PackageRevisionRef struct {
	// Name of the PackageRevision.
	Name string `json:"name"`
}

// PackageRevisionStatus is what became of the revision.
type PackageRevisionStatus struct {
	// PublishedBy is who approved the revision.
	PublishedBy string `json:"publishedBy,omitempty"`
	// PublishedAt is when it was approved.
	PublishedAt metav1.Time `json:"publishTimestamp,omitempty"`
	// UpstreamLock is what exactly the package was cloned from or last upgraded to.
	UpstreamLock *UpstreamLock `json:"upstreamLock,omitempty"`
	// Content is where the revision's files are.
	Content *GitLock `json:"content,omitempty"`
}

// UpstreamLock is what exactly was cloned.
type UpstreamLock struct {
	// Type is git.
	Type string `json:"type,omitempty"`
	// Git is the folder at one commit.
	Git *GitLock `json:"git,omitempty"`
}

// GitLock is a folder of a git repository at one commit.
type GitLock struct {
	// Repo is the repository's URL.
	Repo string `json:"repo,omitempty"`
	// Directory of the package in the repository.
	Directory string `json:"directory,omitempty"`
	// Ref is the branch or tag that the commit was found at.
	Ref string `json:"ref,omitempty"`
	// Commit is its hash.
	Commit string `json:"commit,omitempty"`
}

// PackageRevisionResources is the content of the package revision of the same name.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type PackageRevisionResources struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PackageRevisionResourcesSpec `json:"spec,omitempty"`
}

// PackageRevisionResourcesList is a list of contents.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type PackageRevisionResourcesList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []PackageRevisionResources `json:"items"`
}

// PackageRevisionResourcesSpec holds the files of a package revision.
type PackageRevisionResourcesSpec struct {
	// PackageName is the package's whole path in its repository.
	PackageName string `json:"packageName,omitempty"`
	// RepositoryName is the Repository that holds the package.
	RepositoryName string `json:"repositoryName,omitempty"`
	// WorkspaceName of the revision.
	WorkspaceName string `json:"workspaceName,omitempty"`
	// Revision is the number of a published revision.
	Revision int `json:"revision,omitempty"`
	// Resources are the files by their path in the package.
	Resources map[string]string `json:"resources,omitempty"`
}
