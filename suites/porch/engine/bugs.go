package engine

import "github.com/rehearse-dev/rehearse/suites/simulators/fault"

var bugs = fault.List{Prefix: "PORCH-"}

// Faults are all bugs that the rules, or the simulator that applies them, have on request.
func Faults() []fault.Fault { return bugs.All() }

// The bugs in the creation of a revision.
var (
	DefaultsToProposed = bugs.New("defaults-to-proposed", "P01",
		"A revision without a lifecycle is created as Proposed.")
	LifecycleMustBeOmitted = bugs.New("lifecycle-must-be-omitted", "P02 P03",
		"A creation with any lifecycle is rejected.")
	CreatesOnlyDrafts   = bugs.New("creates-only-drafts", "P03", "A revision cannot be created as Proposed.")
	PublishedAtCreation = bugs.New("published-at-creation", "P04",
		"A revision can be created as Published, without a review.")
	DeletionProposedAtCreation = bugs.New("deletion-proposed-at-creation", "P05",
		"A revision can be created as DeletionProposed: only Published is rejected.")
	NamesTheValue = bugs.New("names-the-value", "P04 P05",
		"The rejection of a final lifecycle names the given value instead of 'Final'.")
	LifecycleCaseIgnored = bugs.New("lifecycle-case-ignored", "P06",
		"A lifecycle is compared without its case, and stored unchanged.")
	StoresBeforeChecks = bugs.New("stores-before-checks", "P07",
		"A revision is stored before it is checked, and stays when it is rejected.")
)

// The bugs in the rules for tasks.
var (
	ManyTasks = bugs.New("many-tasks", "P20",
		"A revision can be created with several tasks; the first one runs.")
	NoDefaultTask     = bugs.New("no-default-task", "P21", "A revision without a task stays without one.")
	InitUnknown       = bugs.New("init-unknown", "P22", "The list of task types lacks init.")
	CloneUnknown      = bugs.New("clone-unknown", "P23", "The list of task types lacks clone.")
	EditUnknown       = bugs.New("edit-unknown", "P24", "The list of task types lacks edit.")
	UpgradeUnknown    = bugs.New("upgrade-unknown", "P25", "The list of task types lacks upgrade.")
	TaskTypeUnchecked = bugs.New("task-type-unchecked", "P26",
		"A task of an unknown type does nothing, without an error.")
	MissingBodyAccepted = bugs.New("missing-body-accepted", "P27",
		"A task that lacks a field that its type requires is treated as one that does nothing.")
	OneTaskForEver      = bugs.New("one-task-for-ever", "P28", "The limit for the creation holds for updates, too.")
	EditSourceUnchecked = bugs.New("edit-source-unchecked", "P29",
		"An edit may start from any revision, published or not, of this package or another.")
)

// The bugs in the rules for workspaces and names.
var (
	OnlyDraftWorkspaces = bugs.New("only-draft-workspaces", "P30",
		"Only drafts are checked for a workspace of the same name.")
	WorkspaceUniqueInRepository = bugs.New("workspace-unique-in-repository", "P31",
		"A workspace name is reserved in the whole repository, not only in its package.")
	WorkspaceUniqueEverywhere = bugs.New("workspace-unique-everywhere", "P31",
		"A workspace name is reserved for the package in all repositories, and for every other package.")
	OneRevisionPerPackage = bugs.New("one-revision-per-package", "P32",
		"A package with a revision cannot have another, not even with another workspace.")
	LastElementCompared = bugs.New("last-element-compared", "P31 P44",
		"A package's name is compared with the last element of existing names, so nested packages are missed, and "+
			"others are confused with them.")
	WorkspaceNameUnchecked = bugs.New("workspace-name-unchecked", "P34",
		"The workspace name is not checked before it becomes a part of the object's name.")
	NameWithoutPath = bugs.New("name-without-path", "P35",
		"The object's name leaves out the path of a nested package.")
	GivenNameKept    = bugs.New("given-name-kept", "P35", "The object keeps the name that the client gave it.")
	CreateOverwrites = bugs.New("create-overwrites", "P30 P36",
		"Creating an existing revision replaces it, so two simultaneous creations both succeed.")
)

// The bugs in clones and edits.
var (
	CloneStartsEmpty = bugs.New("clone-starts-empty", "P40",
		"A clone has the files of a new package instead of upstream's.")
	UpstreamLockMissing = bugs.New("upstream-lock-missing", "P45",
		"A clone does not record the exact revision it was made of.")
	CloneOntoExisting    = bugs.New("clone-onto-existing", "P41", "A clone may add a revision to a package that exists.")
	CloneLooksEverywhere = bugs.New("clone-looks-everywhere", "P42",
		"A clone is rejected if the package exists in any repository.")
	EditIsCreation = bugs.New("edit-is-creation", "P32 P43 P67",
		"An edit is checked like the creation of a package.")
)

// The bugs in upgrades.
var (
	MergeTakesNew = bugs.New("merge-takes-new", "P50",
		"An upgrade copies the new upstream and loses the local changes.")
	MergeTakesLocal = bugs.New("merge-takes-local", "P50",
		"An upgrade records the new upstream and keeps the local files.")
	OldUpstreamUnchecked = bugs.New("old-upstream-unchecked", "P51",
		"The old upstream of an upgrade need not be published.")
	NewUpstreamUnchecked = bugs.New("new-upstream-unchecked", "P52",
		"The new upstream of an upgrade need not be published.")
	LocalUnchecked      = bugs.New("local-unchecked", "P53", "The local revision of an upgrade need not be published.")
	ProposedIsPublished = bugs.New("proposed-is-published", "P54",
		"A proposed revision is stable enough to upgrade from.")
	MissingSourceIgnored = bugs.New("missing-source-ignored", "P56",
		"A source of an upgrade that does not exist is treated as an empty package.")
)

// The bugs in the rule for paths.
var (
	ParentPathAllowed = bugs.New("parent-path-allowed", "P60 P63",
		"A package may be created in a parent folder of an existing one.")
	ChildPathAllowed = bugs.New("child-path-allowed", "P61 P62", "A package may be created inside an existing one.")
	TopLevelOverlaps = bugs.New("top-level-overlaps", "P62 P63",
		"Paths of one element are not compared with other paths.")
	SiblingsOverlap = bugs.New("siblings-overlap", "P64", "Two packages in one folder are treated as overlapping.")
	PrefixOverlaps  = bugs.New("prefix-overlaps", "P65",
		"Paths are compared as texts, so test overlaps test-package.")
	LastElementOverlaps = bugs.New("last-element-overlaps", "P60 P61 P66",
		"A path is compared with the last element of existing paths.")
	OverlapEverywhere = bugs.New("overlap-everywhere", "P67",
		"Packages of other repositories are checked for overlaps.")
	OverlapOfAllTasks = bugs.New("overlap-of-all-tasks", "P67", "Edits and upgrades are checked for overlaps, too.")
)

// The bugs in the rules for updates.
var (
	DraftTasksDropped = bugs.New("draft-tasks-dropped", "P10 P28",
		"A change of a draft's tasks is accepted, but not stored.")
	DraftContentDropped = bugs.New("draft-content-dropped", "P10",
		"A change of a draft's files is accepted, but not stored.")
	ProposedMetadataFrozen = bugs.New("proposed-metadata-frozen", "P11",
		"Only the lifecycle of a proposed revision can be changed.")
	ProposedContentMutable = bugs.New("proposed-content-mutable", "AMB1",
		"The files of a proposed revision can be changed during its review.")
	PublishedMetadataFrozen = bugs.New("published-metadata-frozen", "P12",
		"No field of a published revision can be changed, not even its labels.")
	PublishedTasksDropped = bugs.New("published-tasks-dropped", "P12",
		"An update of the metadata of a published revision drops its tasks.")
	PublishedSpecMutable = bugs.New("published-spec-mutable", "P13",
		"The tasks of a published revision can be changed.")
	PublishedContentMutable = bugs.New("published-content-mutable", "P14",
		"The files of a published revision can be changed.")
	DeletionProposedIsFinal = bugs.New("deletion-proposed-is-final", "P15", "A proposed deletion cannot be cancelled.")
	ApprovalRejected        = bugs.New("approval-rejected", "P15", "A proposed revision cannot be approved.")
	ReviewBypassed          = bugs.New("review-bypassed", "P16", "A draft can be published without being proposed.")
	DraftsApproved          = bugs.New("drafts-approved", "P16", "A draft can be approved without being proposed.")
	OriginalUnchecked       = bugs.New("original-unchecked", "P17",
		"A revision whose stored lifecycle is invalid can be updated.")
	DesiredUnchecked     = bugs.New("desired-unchecked", "P18", "A revision can be given an invalid lifecycle.")
	PublishedBackToDraft = bugs.New("published-back-to-draft", "P19", "A published revision can become a draft again.")
)

// The bugs in optimistic locking.
var (
	VersionCached = bugs.New("version-cached", "P70 P73",
		"Each update is compared with the version of the revision's creation, so the second update is rejected.")
	StaleVersionAccepted = bugs.New("stale-version-accepted", "P71 P73 P77 P78",
		"The version in an update is not compared, so the last writer wins.")
	VersionNotRequired    = bugs.New("version-not-required", "P72", "An update without a version is accepted.")
	StaleApprovalAccepted = bugs.New("stale-approval-accepted", "P78",
		"The version in an approval is not compared.")
	StaleContentAccepted = bugs.New("stale-content-accepted", "P74",
		"The version in an update of files is not compared.")
	StaleMetadataAccepted = bugs.New("stale-metadata-accepted", "P75",
		"The version is compared only when the spec changes, so one of two label changes is lost.")
	DeleteNeedsVersion = bugs.New("delete-needs-version", "P76", "A deletion must name the version of the object.")
)

// The bugs in the order of the steps, in the remains of a failure, and in the words of a rejection.
var (
	OpensFirst = bugs.New("opens-first", "P80",
		"The repository is opened before the request itself is checked.")
	ConstraintsAfterTask = bugs.New("constraints-after-task", "P81",
		"The task runs before the constraints on the revision are checked.")
	FailedDraftShows = bugs.New("failed-draft-shows", "P82",
		"A draft is stored before its task runs, and deleted when the task fails: watchers see it come and go.")
	FailedDraftStays = bugs.New("failed-draft-stays", "P82 P83",
		"A draft whose task failed stays, so its workspace name stays reserved.")
	BadRequestAsInvalid = bugs.New("bad-request-as-invalid", "P84",
		"An invalid request is answered with 422.")
	ConflictAsInvalid = bugs.New("conflict-as-invalid", "P85",
		"A conflict with an existing revision is answered with 422.")
	BusinessRuleAsBadRequest = bugs.New("business-rule-as-bad-request", "P86",
		"A request that a business rule forbids is answered with 400.")
	NoContext        = bugs.New("no-context", "P87", "A rejection names the failed operation, but not the object.")
	ValidationSwitch = bugs.New("validation-switch", "P88", "An annotation switches the rules off.")
	DryRunCreates    = bugs.New("dry-run-creates", "P89", "A dry run of a creation creates the revision.")
)
