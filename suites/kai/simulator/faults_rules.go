package simulator

import "github.com/rehearse-dev/rehearse/suites/simulators/fault"

// The bugs in the rule for names.
const (
	namesUnchecked         = "names-unchecked"
	hintNever              = "hint-never"
	hintAlways             = "hint-always"
	caseAlone              = "case-alone"
	trailingDashAllowed    = "trailing-dash-allowed"
	lineByLine             = "line-by-line"
	emptyNameUnchecked     = "empty-name-unchecked"
	lengthUnchecked        = "length-unchecked"
	lengthOffByOne         = "length-off-by-one"
	lengthInCharacters     = "length-in-characters"
	charactersBeforeLength = "characters-before-length"
	oneCharacterRejected   = "one-character-rejected"
	leadingDigitRejected   = "leading-digit-rejected"
)

func nameFaults() []fault.Fault {
	return []fault.Fault{
		fault.New(namesUnchecked, "The webhook does not have the rule for names.",
			breaks("02 03 04 05 06 07 10 15 16 17 19 21 28 30 33 34 36 41 43 46 47 49 50 51 54")),
		fault.New(hintNever, "A mixed-case name is rejected with the message for any invalid name, without the "+
			"lowercase form.", breaks("13 47 49 51")),
		fault.New(hintAlways, "The lowercase form of a name is suggested even if it is not valid, either.", breaks("11")),
		fault.New(caseAlone, "The rule only compares a name with its lowercase form.", breaks("04 05 06 15 17 47 51")),
		fault.New(trailingDashAllowed, "A name may end with a dash.", breaks("06 51")),
		fault.New(lineByLine, "The pattern is matched line by line, so a name may have a second line.", breaks("06")),
		fault.New(emptyNameUnchecked, "An empty name is rejected with the message for invalid characters.", breaks("51")),
		fault.New(lengthUnchecked, "The webhook does not check the length of a name.", breaks("10 11 12 13 51")),
		fault.New(lengthOffByOne, "A name of 63 characters is too long.", breaks("09 12 13")),
		fault.New(lengthInCharacters, "The webhook counts characters instead of bytes.", breaks("12 13")),
		fault.New(charactersBeforeLength, "The characters of a name are checked before its length.", breaks("11 12 13")),
		fault.New(oneCharacterRejected, "The pattern requires two characters, a first and a last one.", breaks("01")),
		fault.New(leadingDigitRejected, "A name must start with a letter, like that of a Service.", breaks("01")),
	}
}

// The bugs in the rules for several sub groups.
const (
	onlyFirstName           = "only-first-name"
	allNamesReported        = "all-names-reported"
	namesAfterHierarchy     = "names-after-hierarchy"
	duplicatesUnchecked     = "duplicates-unchecked"
	duplicatesBeforeNames   = "duplicates-before-names"
	parentsUnchecked        = "parents-unchecked"
	parentCaseIgnored       = "parent-case-ignored"
	emptyParentIsRoot       = "empty-parent-is-root"
	cyclesBeforeParents     = "cycles-before-parents"
	cyclesBeforeDuplicates  = "cycles-before-duplicates"
	selfParentAllowed       = "self-parent-allowed"
	longCyclesOverlooked    = "long-cycles-overlooked"
	cyclesFromFirst         = "cycles-from-first"
	subGroupsRequired       = "sub-groups-required"
	parentMinMemberRejected = "parent-min-member-rejected"
)

func hierarchyFaults() []fault.Fault {
	return []fault.Fault{
		fault.New(onlyFirstName, "Only the first sub group's name is checked.", breaks("02 15 16 17 19 21 30 49")),
		fault.New(allNamesReported, "Every invalid name is reported, not only the first.", breaks("15 17")),
		fault.New(namesAfterHierarchy, "Names are checked after parents and cycles.", breaks("19")),
		fault.New(duplicatesUnchecked, "Two sub groups may have the same name.", breaks("14 15 24 46 54")),
		fault.New(duplicatesBeforeNames, "Duplicates are checked before names.", breaks("15")),
		fault.New(parentsUnchecked, "A parent need not exist.", breaks("18 20 22 24 46")),
		fault.New(parentCaseIgnored, "A parent is searched by its lowercase form.", breaks("20")),
		fault.New(emptyParentIsRoot, "An empty parent counts as no parent.", breaks("22")),
		fault.New(cyclesBeforeParents, "Cycles are checked before missing parents.", breaks("24")),
		fault.New(cyclesBeforeDuplicates, "Cycles are checked before duplicates.", breaks("24")),
		fault.New(selfParentAllowed, "A sub group may be its own parent.", breaks("23 46")),
		fault.New(longCyclesOverlooked, "A cycle of more than two sub groups is not found.", breaks("23")),
		fault.New(cyclesFromFirst, "Cycles are searched only from the first sub group.", breaks("23")),
		fault.New(subGroupsRequired, "A PodGroup without sub groups is rejected.", breaks("25")),
		fault.New(parentMinMemberRejected, "A sub group with a minMember cannot be a parent.", breaks("26 27")),
	}
}
