package engine

// The bugs in the creation of a revision.
const (
	DefaultsToProposed         = "defaults-to-proposed"
	LifecycleMustBeOmitted     = "lifecycle-must-be-omitted"
	CreatesOnlyDrafts          = "creates-only-drafts"
	PublishedAtCreation        = "published-at-creation"
	DeletionProposedAtCreation = "deletion-proposed-at-creation"
	NamesTheValue              = "names-the-value"
	LifecycleCaseIgnored       = "lifecycle-case-ignored"
	StoresBeforeChecks         = "stores-before-checks"
)

// The bugs in the rules for tasks.
const (
	ManyTasks           = "many-tasks"
	NoDefaultTask       = "no-default-task"
	InitUnknown         = "init-unknown"
	CloneUnknown        = "clone-unknown"
	EditUnknown         = "edit-unknown"
	UpgradeUnknown      = "upgrade-unknown"
	TaskTypeUnchecked   = "task-type-unchecked"
	MissingBodyAccepted = "missing-body-accepted"
	OneTaskForEver      = "one-task-for-ever"
	EditSourceUnchecked = "edit-source-unchecked"
)

// The bugs in the rules for workspaces and names.
const (
	OnlyDraftWorkspaces         = "only-draft-workspaces"
	WorkspaceUniqueInRepository = "workspace-unique-in-repository"
	WorkspaceUniqueEverywhere   = "workspace-unique-everywhere"
	OneRevisionPerPackage       = "one-revision-per-package"
	LastElementCompared         = "last-element-compared"
	WorkspaceNameUnchecked      = "workspace-name-unchecked"
	NameWithoutPath             = "name-without-path"
	GivenNameKept               = "given-name-kept"
	CreateOverwrites            = "create-overwrites"
)

// The bugs in clones and edits.
const (
	CloneStartsEmpty     = "clone-starts-empty"
	UpstreamLockMissing  = "upstream-lock-missing"
	CloneOntoExisting    = "clone-onto-existing"
	CloneLooksEverywhere = "clone-looks-everywhere"
	EditIsCreation       = "edit-is-creation"
)

// The bugs in upgrades.
const (
	MergeTakesNew        = "merge-takes-new"
	MergeTakesLocal      = "merge-takes-local"
	OldUpstreamUnchecked = "old-upstream-unchecked"
	NewUpstreamUnchecked = "new-upstream-unchecked"
	LocalUnchecked       = "local-unchecked"
	ProposedIsPublished  = "proposed-is-published"
	MissingSourceIgnored = "missing-source-ignored"
)

// The bugs in the rule for paths.
const (
	ParentPathAllowed   = "parent-path-allowed"
	ChildPathAllowed    = "child-path-allowed"
	TopLevelOverlaps    = "top-level-overlaps"
	SiblingsOverlap     = "siblings-overlap"
	PrefixOverlaps      = "prefix-overlaps"
	LastElementOverlaps = "last-element-overlaps"
	OverlapEverywhere   = "overlap-everywhere"
	OverlapOfAllTasks   = "overlap-of-all-tasks"
)

// The bugs in the rules for updates.
const (
	DraftTasksDropped       = "draft-tasks-dropped"
	DraftContentDropped     = "draft-content-dropped"
	ProposedMetadataFrozen  = "proposed-metadata-frozen"
	ProposedContentMutable  = "proposed-content-mutable"
	PublishedMetadataFrozen = "published-metadata-frozen"
	PublishedSpecMutable    = "published-spec-mutable"
	PublishedContentMutable = "published-content-mutable"
	DeletionProposedIsFinal = "deletion-proposed-is-final"
	ApprovalRejected        = "approval-rejected"
	ReviewBypassed          = "review-bypassed"
	DraftsApproved          = "drafts-approved"
	OriginalUnchecked       = "original-unchecked"
	DesiredUnchecked        = "desired-unchecked"
	PublishedBackToDraft    = "published-back-to-draft"
)

// The bugs in optimistic locking.
const (
	VersionCached         = "version-cached"
	StaleVersionAccepted  = "stale-version-accepted"
	VersionNotRequired    = "version-not-required"
	StaleApprovalAccepted = "stale-approval-accepted"
	StaleContentAccepted  = "stale-content-accepted"
	StaleMetadataAccepted = "stale-metadata-accepted"
	DeleteNeedsVersion    = "delete-needs-version"
)

// The bugs in the order of the steps, in what a failure leaves behind, and in how a rejection is worded.
const (
	OpensFirst               = "opens-first"
	ConstraintsAfterTask     = "constraints-after-task"
	FailedDraftShows         = "failed-draft-shows"
	FailedDraftStays         = "failed-draft-stays"
	BadRequestAsInvalid      = "bad-request-as-invalid"
	ConflictAsInvalid        = "conflict-as-invalid"
	BusinessRuleAsBadRequest = "business-rule-as-bad-request"
	NoContext                = "no-context"
	ValidationSwitch         = "validation-switch"
	DryRunCreates            = "dry-run-creates"
)
