package engine

import "github.com/rehearse-dev/rehearse/suites/simulators/fault"

var bugs = fault.List{Prefix: "PORCH-"}

// Faults are all bugs that the rules, or the simulator that applies them, have on request.
func Faults() []fault.Fault { return bugs.All() }

// The bugs in the creation of a revision.
var (
	DefaultsToProposed = bugs.New("defaults-to-proposed", "P01",
		"A revision that names no lifecycle is created as Proposed.")
	LifecycleMustBeOmitted = bugs.New("lifecycle-must-be-omitted", "P02 P03",
		"A creation that names its lifecycle is rejected, whichever it is.")
	CreatesOnlyDrafts   = bugs.New("creates-only-drafts", "P03", "A revision cannot be created as Proposed.")
	PublishedAtCreation = bugs.New("published-at-creation", "P04",
		"A revision can be created as Published, past all review.")
	DeletionProposedAtCreation = bugs.New("deletion-proposed-at-creation", "P05",
		"A revision can be created as DeletionProposed: only Published was thought of.")
	NamesTheValue = bugs.New("names-the-value", "P04 P05",
		"The rejection of a final lifecycle names the value that was given instead of 'Final'.")
	LifecycleCaseIgnored = bugs.New("lifecycle-case-ignored", "P06",
		"A lifecycle is compared without its case, and stored as it was given.")
	StoresBeforeChecks = bugs.New("stores-before-checks", "P07",
		"A revision is stored before it is judged, and stays when it is rejected.")
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
		"A task of an unknown type does nothing, and nobody says so.")
	MissingBodyAccepted = bugs.New("missing-body-accepted", "P27",
		"A task that lacks what its type needs is taken for one that does nothing.")
	OneTaskForEver      = bugs.New("one-task-for-ever", "P28", "The limit for the creation holds for updates, too.")
	EditSourceUnchecked = bugs.New("edit-source-unchecked", "P29",
		"An edit may start from any revision, published or not, of this package or another.")
)

// The bugs in the rules for workspaces and names.
var (
	OnlyDraftWorkspaces = bugs.New("only-draft-workspaces", "P30",
		"Only drafts are looked at for a workspace of the same name.")
	WorkspaceUniqueInRepository = bugs.New("workspace-unique-in-repository", "P31",
		"A workspace name is taken for the whole repository, not for its package.")
	WorkspaceUniqueEverywhere = bugs.New("workspace-unique-everywhere", "P31",
		"A workspace name is taken for the package in all repositories, and for every other package.")
	OneRevisionPerPackage = bugs.New("one-revision-per-package", "P32",
		"A package with a revision cannot have another, whatever its workspace.")
	LastElementCompared = bugs.New("last-element-compared", "P31 P44",
		"A package's name is compared with the last element of those that exist, so that nested packages go unseen and "+
			"others are mistaken for them.")
	WorkspaceNameUnchecked = bugs.New("workspace-name-unchecked", "P34",
		"The workspace name is not looked at before it is made part of the object's name.")
	NameWithoutPath = bugs.New("name-without-path", "P35",
		"The object's name leaves out the path of a nested package.")
	GivenNameKept    = bugs.New("given-name-kept", "P35", "The object keeps the name that the client gave it.")
	CreateOverwrites = bugs.New("create-overwrites", "P30 P36",
		"A creation of what exists replaces it, so that of two at once both win.")
)

// The bugs in clones and edits.
var (
	CloneStartsEmpty = bugs.New("clone-starts-empty", "P40",
		"A clone has the files of a new package instead of upstream's.")
	UpstreamLockMissing = bugs.New("upstream-lock-missing", "P45",
		"A clone does not record what exactly it was made of.")
	CloneOntoExisting    = bugs.New("clone-onto-existing", "P41", "A clone may add a revision to a package that exists.")
	CloneLooksEverywhere = bugs.New("clone-looks-everywhere", "P42",
		"A clone is rejected if the package exists in any repository.")
	EditIsCreation = bugs.New("edit-is-creation", "P32 P43 P67",
		"An edit is judged like the creation of a package.")
)

// The bugs in upgrades.
var (
	MergeTakesNew = bugs.New("merge-takes-new", "P50",
		"An upgrade copies the new upstream and loses what was changed locally.")
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
		"A source of an upgrade that is not there is taken for an empty package.")
)

// The bugs in the rule for paths.
var (
	ParentPathAllowed = bugs.New("parent-path-allowed", "P60 P63", "A package may be made around one that exists.")
	ChildPathAllowed  = bugs.New("child-path-allowed", "P61 P62", "A package may be made inside of one that exists.")
	TopLevelOverlaps  = bugs.New("top-level-overlaps", "P62 P63", "Paths of one element are not compared with others.")
	SiblingsOverlap   = bugs.New("siblings-overlap", "P64", "Two packages of one folder are taken to overlap.")
	PrefixOverlaps    = bugs.New("prefix-overlaps", "P65",
		"Paths are compared as texts, so that test overlaps test-package.")
	LastElementOverlaps = bugs.New("last-element-overlaps", "P60 P61 P66",
		"A path is compared with the last element of those that exist.")
	OverlapEverywhere = bugs.New("overlap-everywhere", "P67",
		"Packages of other repositories are looked at for overlaps.")
	OverlapOfAllTasks = bugs.New("overlap-of-all-tasks", "P67", "Edits and upgrades are checked for overlaps, too.")
)

// The bugs in the rules for updates.
var (
	DraftTasksDropped = bugs.New("draft-tasks-dropped", "P10 P28",
		"A change of a draft's tasks is accepted and forgotten.")
	DraftContentDropped = bugs.New("draft-content-dropped", "P10",
		"A change of a draft's files is accepted and forgotten.")
	ProposedMetadataFrozen = bugs.New("proposed-metadata-frozen", "P11",
		"Nothing of a proposed revision can be changed but its lifecycle.")
	ProposedContentMutable = bugs.New("proposed-content-mutable", "AMB1",
		"The files of a proposed revision can be changed under its reviewers.")
	PublishedMetadataFrozen = bugs.New("published-metadata-frozen", "P12",
		"Nothing of a published revision can be changed, not even its labels.")
	PublishedSpecMutable = bugs.New("published-spec-mutable", "P13",
		"The tasks of a published revision can be changed.")
	PublishedContentMutable = bugs.New("published-content-mutable", "P14",
		"The files of a published revision can be changed.")
	DeletionProposedIsFinal = bugs.New("deletion-proposed-is-final", "P15", "A proposed deletion cannot be taken back.")
	ApprovalRejected        = bugs.New("approval-rejected", "P15", "A proposed revision cannot be approved.")
	ReviewBypassed          = bugs.New("review-bypassed", "P16", "A draft can be published without being proposed.")
	DraftsApproved          = bugs.New("drafts-approved", "P16", "A draft can be approved without being proposed.")
	OriginalUnchecked       = bugs.New("original-unchecked", "P17",
		"A revision whose stored lifecycle is none can be updated.")
	DesiredUnchecked     = bugs.New("desired-unchecked", "P18", "A revision can be given a lifecycle that is none.")
	PublishedBackToDraft = bugs.New("published-back-to-draft", "P19", "A published revision can become a draft again.")
)

// The bugs in optimistic locking.
var (
	VersionCached = bugs.New("version-cached", "P70 P73",
		"The version of a revision's creation is compared with for ever, so that its second update is rejected.")
	StaleVersionAccepted = bugs.New("stale-version-accepted", "P71 P73 P77 P78",
		"The version that an update names is not compared, so that the last writer wins.")
	VersionNotRequired    = bugs.New("version-not-required", "P72", "An update that names no version is accepted.")
	StaleApprovalAccepted = bugs.New("stale-approval-accepted", "P78",
		"The version that an approval names is not compared.")
	StaleContentAccepted = bugs.New("stale-content-accepted", "P74",
		"The version that an update of files names is not compared.")
	StaleMetadataAccepted = bugs.New("stale-metadata-accepted", "P75",
		"The version is compared only when the spec changes, so that of two changes of labels one is lost.")
	DeleteNeedsVersion = bugs.New("delete-needs-version", "P76", "A deletion must name the version that it deletes.")
)

// The bugs in the order of the steps, in what a failure leaves behind, and in how a rejection is worded.
var (
	OpensFirst = bugs.New("opens-first", "P80",
		"The repository is opened before a request is judged by itself.")
	ConstraintsAfterTask = bugs.New("constraints-after-task", "P81",
		"The task is carried out before it is known whether the revision may exist.")
	FailedDraftShows = bugs.New("failed-draft-shows", "P82",
		"A draft is stored before its task is carried out, and deleted when that fails: watchers see it come and go.")
	FailedDraftStays = bugs.New("failed-draft-stays", "P82 P83",
		"A draft whose task failed stays, so that the workspace is taken.")
	BadRequestAsInvalid = bugs.New("bad-request-as-invalid", "P84",
		"What is wrong with a request by itself is answered 422.")
	ConflictAsInvalid = bugs.New("conflict-as-invalid", "P85",
		"What conflicts with something that exists is answered 422.")
	BusinessRuleAsBadRequest = bugs.New("business-rule-as-bad-request", "P86",
		"What a business rule forbids is answered 400.")
	NoContext        = bugs.New("no-context", "P87", "A rejection says what failed, but not of what.")
	ValidationSwitch = bugs.New("validation-switch", "P88", "An annotation switches the rules off.")
	DryRunCreates    = bugs.New("dry-run-creates", "P89", "A dry run of a creation creates.")
)
