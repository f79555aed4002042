package simulator

import "github.com/rehearse-dev/rehearse/suites/simulators/fault"

// The bugs in when and how the webhook validates.
const (
	updatesUnchecked    = "updates-unchecked"
	updatesNamesOnly    = "updates-names-only"
	updatesRatcheted    = "updates-ratcheted"
	oldObjectJudged     = "old-object-judged"
	updatesFrozen       = "updates-frozen"
	dryRunUnchecked     = "dry-run-unchecked"
	statusJudged        = "status-judged"
	deletionsJudged     = "deletions-judged"
	namesLowered        = "names-lowered"
	parentsLowered      = "parents-lowered"
	podLabelsJudged     = "pod-labels-judged"
	failsOpen           = "fails-open"
	rejectsAsBadRequest = "rejects-as-bad-request"
)

func webhookFaults() []fault.Fault {
	return []fault.Fault{
		fault.New(updatesUnchecked, "The webhook validates only creations.", breaks("28 30 33 46")),
		fault.New(updatesNamesOnly, "On update the webhook checks names, but not duplicates, parents and cycles.",
			breaks("46")),
		fault.New(updatesRatcheted, "An update that does not change the sub groups is not validated.", breaks("30")),
		fault.New(oldObjectJudged, "An update is rejected because of the old object.", breaks("33")),
		fault.New(updatesFrozen, "Any change of a PodGroup's spec is rejected.", breaks("25 29 33 48")),
		fault.New(dryRunUnchecked, "A dry run is not validated.", breaks("46")),
		fault.Wide(fault.New(statusJudged, "The webhook is registered for the status as well.", breaks("31"))),
		fault.Wide(fault.New(deletionsJudged, "The webhook validates deletions.", breaks("30 32 34"))),
		fault.Wide(fault.New(namesLowered, "A mutating webhook converts names to lowercase.",
			breaks("02 03 13 15 16 17 19 21 28 30 33 34 36 38 39 41 43 46 47 49 50 51 53 54"))),
		fault.Wide(fault.New(parentsLowered, "A mutating webhook converts parents to lowercase.", breaks("20 45 53"))),
		fault.Wide(fault.New(podLabelsJudged, "The rule is applied to the sub group in a pod's label.", breaks("42"))),
		// The reading bypassed of KAI-K40 has this fault, too.
		fault.Wide(fault.New(failsOpen, "If the webhook cannot be called, the request is accepted.", breaks("40"))),
		fault.New(rejectsAsBadRequest, "A rejection is 400 Bad Request instead of 403 Forbidden.", breaks("50")),
	}
}

// The bugs in the CustomResourceDefinition and its installation.
const (
	crdPatternMissing     = "crd-pattern-missing"
	crdPatternIgnoresCase = "crd-pattern-ignores-case"
	crdMaxLengthMissing   = "crd-max-length-missing"
	crdMinLengthMissing   = "crd-min-length-missing"
	crdNameOptional       = "crd-name-optional"
	crdParentPattern      = "crd-parent-pattern"
	crdUndocumented       = "crd-undocumented"
	crdForgetsTopology    = "crd-forgets-topology"
	crdNeverUpgraded      = "crd-never-upgraded"
)

func definitionFaults() []fault.Fault {
	return []fault.Fault{
		fault.Wide(fault.New(crdPatternMissing, "The schema has no pattern for a name.",
			breaks("02 03 04 05 06 16 17 21 28 30 33 34 36 37 38 41 43 46 53"))),
		fault.Wide(fault.New(crdPatternIgnoresCase, "The schema's pattern allows capital letters.",
			breaks("02 03 16 17 21 28 30 33 34 36 37 38 41 43 46 53"))),
		fault.Wide(fault.New(crdMaxLengthMissing, "The schema does not limit the length of a name.", breaks("10 12 37"))),
		fault.Wide(fault.New(crdMinLengthMissing, "The schema has no minimum for the length of a name.", breaks("37"))),
		fault.Wide(fault.New(crdNameOptional, "The schema does not require a name.", breaks("08 37"))),
		fault.Wide(fault.New(crdParentPattern, "The schema applies the pattern of names to parents.", breaks("20 37 45"))),
		fault.Wide(fault.New(crdUndocumented, "The field's description does not mention the rule.", breaks("44"))),
		fault.Wide(fault.New(crdForgetsTopology, "The new schema lacks the topology constraints, so they are "+
			"pruned from stored objects.", breaks("35"))),
		fault.Wide(fault.New(crdNeverUpgraded, "An existing CustomResourceDefinition stays unchanged.",
			breaks("30 33 34 36"))),
	}
}
