package simulator

import "github.com/rehearse-dev/rehearse/suites/simulators/fault"

var bugs = fault.List{Prefix: "KAI-K"}

// Faults lists the bugs that the simulator has on request.
func Faults() []fault.Fault { return bugs.All() }

// The bugs in the rule for names.
var (
	namesUnchecked = bugs.New("names-unchecked",
		"02 03 04 05 06 07 10 12 13 15 16 17 19 21 28 30 34 36 41 43 46 47 49 50 51 54 55",
		"The webhook does not have the rule for names.")
	hintNever = bugs.New("hint-never", "13 47 49 51",
		"A mixed-case name is rejected with the message for any invalid name, without the lowercase form.")
	hintAlways = bugs.New("hint-always", "11",
		"The lowercase form of a name is suggested even if it is not valid, either.")
	caseAlone = bugs.New("case-alone", "04 05 06 15 17 47 51",
		"The rule only compares a name with its lowercase form.")
	trailingDashAllowed = bugs.New("trailing-dash-allowed", "06 11 51", "A name may end with a dash.")
	lineByLine          = bugs.New("line-by-line", "06",
		"The pattern is matched line by line, so a name may have a second line.")
	emptyNameUnchecked = bugs.New("empty-name-unchecked", "51",
		"An empty name is rejected with the message for invalid characters.")
	lengthUnchecked = bugs.New("length-unchecked", "10 11 12 13 51",
		"The webhook does not check the length of a name.")
	lengthOffByOne         = bugs.New("length-off-by-one", "09 12 13 49", "A name of 63 characters is too long.")
	lengthInCharacters     = bugs.New("length-in-characters", "12 13", "The webhook counts characters instead of bytes.")
	charactersBeforeLength = bugs.New("characters-before-length", "11 12 13",
		"The characters of a name are checked before its length.")
	oneCharacterRejected = bugs.New("one-character-rejected", "01",
		"The pattern requires two characters, a first and a last one.")
	leadingDigitRejected = bugs.New("leading-digit-rejected", "01",
		"A name must start with a letter, like that of a Service.")
)

// The bugs in the rules for several sub groups.
var (
	onlyFirstName = bugs.New("only-first-name", "02 15 16 17 19 21 28 30 49",
		"Only the first sub group's name is checked.")
	allNamesReported = bugs.New("all-names-reported", "15 17",
		"Every invalid name is reported, not only the first.")
	namesAfterHierarchy    = bugs.New("names-after-hierarchy", "19 24", "Names are checked after parents and cycles.")
	duplicatesUnchecked    = bugs.New("duplicates-unchecked", "14 15 24 46", "Two sub groups may have the same name.")
	duplicatesBeforeNames  = bugs.New("duplicates-before-names", "15", "Duplicates are checked before names.")
	parentsUnchecked       = bugs.New("parents-unchecked", "18 20 22 24 46 54", "A parent need not exist.")
	parentCaseIgnored      = bugs.New("parent-case-ignored", "20", "A parent is searched by its lowercase form.")
	emptyParentIsRoot      = bugs.New("empty-parent-is-root", "22", "An empty parent counts as no parent.")
	cyclesBeforeParents    = bugs.New("cycles-before-parents", "24", "Cycles are checked before missing parents.")
	cyclesBeforeDuplicates = bugs.New("cycles-before-duplicates", "24", "Cycles are checked before duplicates.")
	selfParentAllowed      = bugs.New("self-parent-allowed", "23 46", "A sub group may be its own parent.")
	longCyclesOverlooked   = bugs.New("long-cycles-overlooked", "23",
		"A cycle of more than two sub groups is not found.")
	cyclesFromFirst         = bugs.New("cycles-from-first", "23", "Cycles are searched only from the first sub group.")
	subGroupsRequired       = bugs.New("sub-groups-required", "25", "A PodGroup without sub groups is rejected.")
	parentMinMemberRejected = bugs.New("parent-min-member-rejected", "26 27",
		"A sub group with a minMember cannot be a parent.")
)

// The bugs in when and how the webhook validates.
var (
	updatesUnchecked = bugs.New("updates-unchecked", "28 30 46 55", "The webhook validates only creations.")
	updatesNamesOnly = bugs.New("updates-names-only", "46",
		"On update the webhook checks names, but not duplicates, parents and cycles.")
	updatesRatcheted = bugs.New("updates-ratcheted", "30 55",
		"An update that does not change the sub groups is not validated.")
	oldObjectJudged = bugs.New("old-object-judged", "33", "An update is rejected because of the old object.")
	updatesFrozen   = bugs.New("updates-frozen", "25 29 33", "Any change of a PodGroup's spec is rejected.")
	dryRunUnchecked = bugs.New("dry-run-unchecked", "46", "A dry run is not validated.")
	statusJudged    = bugs.Wide("status-judged", "31", "The webhook is registered for the status as well.")
	deletionsJudged = bugs.Wide("deletions-judged", "32", "The webhook validates deletions.")
	namesLowered    = bugs.Wide("names-lowered", "02 03 13 15 16 17 19 21 28 30 34 36 38 39 41 43 46 47 49 50 51 53 54 55",
		"A mutating webhook converts names to lowercase.")
	parentsLowered  = bugs.Wide("parents-lowered", "20 45 53", "A mutating webhook converts parents to lowercase.")
	podLabelsJudged = bugs.Wide("pod-labels-judged", "42", "The rule is applied to the sub group in a pod's label.")
	// The reading bypassed of KAI-K40 has this fault, too.
	failsOpen           = bugs.Wide("fails-open", "40", "If the webhook cannot be called, the request is accepted.")
	rejectsAsBadRequest = bugs.New("rejects-as-bad-request", "50",
		"A rejection is 400 Bad Request instead of 403 Forbidden.")
)

// The bugs in the CustomResourceDefinition and its installation.
var (
	crdPatternMissing = bugs.Wide("crd-pattern-missing", "02 03 04 05 06 16 17 21 28 30 34 36 37 38 41 43 46 53",
		"The schema has no pattern for a name.")
	crdPatternIgnoresCase = bugs.Wide("crd-pattern-ignores-case", "02 03 16 17 21 28 30 34 36 37 38 41 43 46 53",
		"The schema's pattern allows capital letters.")
	crdMaxLengthMissing = bugs.Wide("crd-max-length-missing", "10 12 37",
		"The schema does not limit the length of a name.")
	crdMinLengthMissing = bugs.Wide("crd-min-length-missing", "37",
		"The schema has no minimum for the length of a name.")
	crdNameOptional  = bugs.Wide("crd-name-optional", "08 37", "The schema does not require a name.")
	crdParentPattern = bugs.Wide("crd-parent-pattern", "45",
		"The schema applies the pattern of names to parents.")
	crdUndocumented    = bugs.Wide("crd-undocumented", "44", "The field's description does not mention the rule.")
	crdForgetsTopology = bugs.Wide("crd-forgets-topology", "35",
		"The new schema lacks the topology constraints, so they are pruned from stored objects.")
	crdNeverUpgraded = bugs.Wide("crd-never-upgraded", "30 34 36",
		"An existing CustomResourceDefinition stays unchanged.")
)
