package engine

import (
	"strings"

	"github.com/rehearse-dev/rehearse/suites/simulators/fault"
)

// breaks converts numbers to the ids of requirements: "02 AMB1" is PORCH-P02 and PORCH-AMB1.
func breaks(numbers string) []string {
	ids := strings.Fields(numbers)
	for i := range ids {
		if !strings.HasPrefix(ids[i], "AMB") {
			ids[i] = "P" + ids[i]
		}
		ids[i] = "PORCH-" + ids[i]
	}
	return ids
}

// Faults are all bugs that the rules, or the simulator that applies them, have on request.
func Faults() []fault.Fault {
	return []fault.Fault{
		fault.New(DefaultsToProposed, "A revision that names no lifecycle is created as Proposed.", breaks("01")),
		fault.New(LifecycleMustBeOmitted, "A creation that names its lifecycle is rejected, whichever it is.",
			breaks("02 03")),
		fault.New(CreatesOnlyDrafts, "A revision cannot be created as Proposed.", breaks("03")),
		fault.New(PublishedAtCreation, "A revision can be created as Published, past all review.", breaks("04")),
		fault.New(DeletionProposedAtCreation, "A revision can be created as DeletionProposed: only Published was thought of.",
			breaks("05")),
		fault.New(NamesTheValue, "The rejection of a final lifecycle names the value that was given instead of 'Final'.",
			breaks("04 05")),
		fault.New(LifecycleCaseIgnored, "A lifecycle is compared without its case, and stored as it was given.",
			breaks("06")),
		fault.New(StoresBeforeChecks, "A revision is stored before it is judged, and stays when it is rejected.",
			breaks("07")),
		fault.New(ManyTasks, "A revision can be created with several tasks; the first one runs.", breaks("20")),
		fault.New(NoDefaultTask, "A revision without a task stays without one.", breaks("21")),
		fault.New(InitUnknown, "The list of task types lacks init.", breaks("22")),
		fault.New(CloneUnknown, "The list of task types lacks clone.", breaks("23")),
		fault.New(EditUnknown, "The list of task types lacks edit.", breaks("24")),
		fault.New(UpgradeUnknown, "The list of task types lacks upgrade.", breaks("25")),
		fault.New(TaskTypeUnchecked, "A task of an unknown type does nothing, and nobody says so.", breaks("26")),
		fault.New(MissingBodyAccepted, "A task that lacks what its type needs is taken for one that does nothing.",
			breaks("27")),
		fault.New(OneTaskForEver, "The limit for the creation holds for updates, too.", breaks("28")),
		fault.New(EditSourceUnchecked, "An edit may start from any revision, published or not, of this package or another.",
			breaks("29")),
		fault.New(OnlyDraftWorkspaces, "Only drafts are looked at for a workspace of the same name.", breaks("30")),
		fault.New(WorkspaceUniqueInRepository, "A workspace name is taken for the whole repository, not for its package.",
			breaks("31")),
		fault.New(WorkspaceUniqueEverywhere, "A workspace name is taken for the package in all repositories, and for "+
			"every other package.", breaks("31")),
		fault.New(OneRevisionPerPackage, "A package with a revision cannot have another, whatever its workspace.",
			breaks("32")),
		fault.New(LastElementCompared, "A package's name is compared with the last element of those that exist, so that "+
			"nested packages go unseen and others are mistaken for them.", breaks("31 44")),
		fault.New(WorkspaceNameUnchecked, "The workspace name is not looked at before it is made part of the object's name.",
			breaks("34")),
		fault.New(NameWithoutPath, "The object's name leaves out the path of a nested package.", breaks("35")),
		fault.New(GivenNameKept, "The object keeps the name that the client gave it.", breaks("35")),
		fault.New(CreateOverwrites, "A creation of what exists replaces it, so that of two at once both win.",
			breaks("30 36")),
		fault.New(CloneStartsEmpty, "A clone has the files of a new package instead of upstream's.", breaks("40")),
		fault.New(UpstreamLockMissing, "A clone does not record what exactly it was made of.", breaks("45")),
		fault.New(CloneOntoExisting, "A clone may add a revision to a package that exists.", breaks("41")),
		fault.New(CloneLooksEverywhere, "A clone is rejected if the package exists in any repository.", breaks("42")),
		fault.New(EditIsCreation, "An edit is judged like the creation of a package.", breaks("32 43 67")),
		fault.New(MergeTakesNew, "An upgrade copies the new upstream and loses what was changed locally.", breaks("50")),
		fault.New(MergeTakesLocal, "An upgrade records the new upstream and keeps the local files.", breaks("50")),
		fault.New(OldUpstreamUnchecked, "The old upstream of an upgrade need not be published.", breaks("51")),
		fault.New(NewUpstreamUnchecked, "The new upstream of an upgrade need not be published.", breaks("52")),
		fault.New(LocalUnchecked, "The local revision of an upgrade need not be published.", breaks("53")),
		fault.New(ProposedIsPublished, "A proposed revision is stable enough to upgrade from.", breaks("54")),
		fault.New(MissingSourceIgnored, "A source of an upgrade that is not there is taken for an empty package.",
			breaks("56")),
		fault.New(ParentPathAllowed, "A package may be made around one that exists.", breaks("60 63")),
		fault.New(ChildPathAllowed, "A package may be made inside of one that exists.", breaks("61 62")),
		fault.New(TopLevelOverlaps, "Paths of one element are not compared with others.", breaks("62 63")),
		fault.New(SiblingsOverlap, "Two packages of one folder are taken to overlap.", breaks("64")),
		fault.New(PrefixOverlaps, "Paths are compared as texts, so that test overlaps test-package.", breaks("65")),
		fault.New(LastElementOverlaps, "A path is compared with the last element of those that exist.", breaks("60 61 66")),
		fault.New(OverlapEverywhere, "Packages of other repositories are looked at for overlaps.", breaks("67")),
		fault.New(OverlapOfAllTasks, "Edits and upgrades are checked for overlaps, too.", breaks("67")),
		fault.New(DraftTasksDropped, "A change of a draft's tasks is accepted and forgotten.", breaks("10 28")),
		fault.New(DraftContentDropped, "A change of a draft's files is accepted and forgotten.", breaks("10")),
		fault.New(ProposedMetadataFrozen, "Nothing of a proposed revision can be changed but its lifecycle.", breaks("11")),
		fault.New(ProposedContentMutable, "The files of a proposed revision can be changed under its reviewers.",
			breaks("AMB1")),
		fault.New(PublishedMetadataFrozen, "Nothing of a published revision can be changed, not even its labels.",
			breaks("12")),
		fault.New(PublishedSpecMutable, "The tasks of a published revision can be changed.", breaks("13")),
		fault.New(PublishedContentMutable, "The files of a published revision can be changed.", breaks("14")),
		fault.New(DeletionProposedIsFinal, "A proposed deletion cannot be taken back.", breaks("15")),
		fault.New(ApprovalRejected, "A proposed revision cannot be approved.", breaks("15")),
		fault.New(ReviewBypassed, "A draft can be published without being proposed.", breaks("16")),
		fault.New(DraftsApproved, "A draft can be approved without being proposed.", breaks("16")),
		fault.New(OriginalUnchecked, "A revision whose stored lifecycle is none can be updated.", breaks("17")),
		fault.New(DesiredUnchecked, "A revision can be given a lifecycle that is none.", breaks("18")),
		fault.New(PublishedBackToDraft, "A published revision can become a draft again.", breaks("19")),
		fault.New(VersionCached, "The version of a revision's creation is compared with for ever, so that its second "+
			"update is rejected.", breaks("70 73")),
		fault.New(StaleVersionAccepted, "The version that an update names is not compared, so that the last writer wins.",
			breaks("71 73 77 78")),
		fault.New(VersionNotRequired, "An update that names no version is accepted.", breaks("72")),
		fault.New(StaleApprovalAccepted, "The version that an approval names is not compared.", breaks("78")),
		fault.New(StaleContentAccepted, "The version that an update of files names is not compared.", breaks("74")),
		fault.New(StaleMetadataAccepted, "The version is compared only when the spec changes, so that of two changes of "+
			"labels one is lost.", breaks("75")),
		fault.New(DeleteNeedsVersion, "A deletion must name the version that it deletes.", breaks("76")),
		fault.New(OpensFirst, "The repository is opened before a request is judged by itself.", breaks("80")),
		fault.New(ConstraintsAfterTask, "The task is carried out before it is known whether the revision may exist.",
			breaks("81")),
		fault.New(FailedDraftShows, "A draft is stored before its task is carried out, and deleted when that fails: "+
			"watchers see it come and go.", breaks("82")),
		fault.New(FailedDraftStays, "A draft whose task failed stays, so that the workspace is taken.", breaks("82 83")),
		fault.New(BadRequestAsInvalid, "What is wrong with a request by itself is answered 422.", breaks("84")),
		fault.New(ConflictAsInvalid, "What conflicts with something that exists is answered 422.", breaks("85")),
		fault.New(BusinessRuleAsBadRequest, "What a business rule forbids is answered 400.", breaks("86")),
		fault.New(NoContext, "A rejection says what failed, but not of what.", breaks("87")),
		fault.New(ValidationSwitch, "An annotation switches the rules off.", breaks("88")),
		fault.New(DryRunCreates, "A dry run of a creation creates.", breaks("89")),
	}
}
