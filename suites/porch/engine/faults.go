package engine

// Fault is a bug that the rules, or what carries them out, have on request.
type Fault string

// The bugs in what a revision is created as.
const (
	DefaultsToProposed         Fault = "defaults-to-proposed"
	LifecycleMustBeOmitted     Fault = "lifecycle-must-be-omitted"
	CreatesOnlyDrafts          Fault = "creates-only-drafts"
	PublishedAtCreation        Fault = "published-at-creation"
	DeletionProposedAtCreation Fault = "deletion-proposed-at-creation"
	NamesTheValue              Fault = "names-the-value"
	LifecycleCaseIgnored       Fault = "lifecycle-case-ignored"
	StoresBeforeChecks         Fault = "stores-before-checks"
)

// The bugs in the rules for tasks.
const (
	ManyTasks           Fault = "many-tasks"
	NoDefaultTask       Fault = "no-default-task"
	InitUnknown         Fault = "init-unknown"
	CloneUnknown        Fault = "clone-unknown"
	EditUnknown         Fault = "edit-unknown"
	UpgradeUnknown      Fault = "upgrade-unknown"
	TaskTypeUnchecked   Fault = "task-type-unchecked"
	MissingBodyAccepted Fault = "missing-body-accepted"
	OneTaskForEver      Fault = "one-task-for-ever"
	EditSourceUnchecked Fault = "edit-source-unchecked"
)

// The bugs in the rules for workspaces and names.
const (
	OnlyDraftWorkspaces         Fault = "only-draft-workspaces"
	WorkspaceUniqueInRepository Fault = "workspace-unique-in-repository"
	WorkspaceUniqueEverywhere   Fault = "workspace-unique-everywhere"
	OneRevisionPerPackage       Fault = "one-revision-per-package"
	LastElementCompared         Fault = "last-element-compared"
	WorkspaceNameUnchecked      Fault = "workspace-name-unchecked"
	NameWithoutPath             Fault = "name-without-path"
	GivenNameKept               Fault = "given-name-kept"
	CreateOverwrites            Fault = "create-overwrites"
)

// The bugs in clones and edits.
const (
	UpstreamLockMissing  Fault = "upstream-lock-missing"
	CloneOntoExisting    Fault = "clone-onto-existing"
	CloneLooksEverywhere Fault = "clone-looks-everywhere"
	EditIsCreation       Fault = "edit-is-creation"
)

// The bugs in upgrades.
const (
	MergeTakesNew        Fault = "merge-takes-new"
	MergeTakesLocal      Fault = "merge-takes-local"
	OldUpstreamUnchecked Fault = "old-upstream-unchecked"
	NewUpstreamUnchecked Fault = "new-upstream-unchecked"
	LocalUnchecked       Fault = "local-unchecked"
	ProposedIsPublished  Fault = "proposed-is-published"
	MissingSourceIgnored Fault = "missing-source-ignored"
)

// The bugs in the rule for paths.
const (
	ParentPathAllowed   Fault = "parent-path-allowed"
	ChildPathAllowed    Fault = "child-path-allowed"
	TopLevelOverlaps    Fault = "top-level-overlaps"
	SiblingsOverlap     Fault = "siblings-overlap"
	PrefixOverlaps      Fault = "prefix-overlaps"
	LastElementOverlaps Fault = "last-element-overlaps"
	OverlapEverywhere   Fault = "overlap-everywhere"
)

// The bugs in what can be updated when.
const (
	DraftTasksDropped       Fault = "draft-tasks-dropped"
	DraftContentDropped     Fault = "draft-content-dropped"
	ProposedMetadataFrozen  Fault = "proposed-metadata-frozen"
	ProposedContentMutable  Fault = "proposed-content-mutable"
	PublishedMetadataFrozen Fault = "published-metadata-frozen"
	PublishedSpecMutable    Fault = "published-spec-mutable"
	PublishedContentMutable Fault = "published-content-mutable"
	DeletionProposedIsFinal Fault = "deletion-proposed-is-final"
	ApprovalRefused         Fault = "approval-refused"
	ReviewBypassed          Fault = "review-bypassed"
	DraftsApproved          Fault = "drafts-approved"
	OriginalUnchecked       Fault = "original-unchecked"
	DesiredUnchecked        Fault = "desired-unchecked"
	PublishedBackToDraft    Fault = "published-back-to-draft"
)

// The bugs in optimistic locking.
const (
	VersionCached         Fault = "version-cached"
	StaleVersionAccepted  Fault = "stale-version-accepted"
	VersionNotRequired    Fault = "version-not-required"
	StaleContentAccepted  Fault = "stale-content-accepted"
	StaleMetadataAccepted Fault = "stale-metadata-accepted"
	DeleteNeedsVersion    Fault = "delete-needs-version"
)

// The bugs in the order of things, in what a failure leaves behind, and in how a refusal is worded.
const (
	OpensFirst               Fault = "opens-first"
	ConstraintsAfterTask     Fault = "constraints-after-task"
	FailedDraftShows         Fault = "failed-draft-shows"
	FailedDraftStays         Fault = "failed-draft-stays"
	BadRequestAsInvalid      Fault = "bad-request-as-invalid"
	ConflictAsInvalid        Fault = "conflict-as-invalid"
	BusinessRuleAsBadRequest Fault = "business-rule-as-bad-request"
	NoContext                Fault = "no-context"
	ValidationSwitch         Fault = "validation-switch"
	DryRunCreates            Fault = "dry-run-creates"
)
