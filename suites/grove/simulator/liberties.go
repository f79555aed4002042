package simulator

import (
	"slices"

	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

const (
	libertyCliquesFirst   = "cliques-before-gang"
	libertyGroupByGroup   = "references-group-by-group"
	libertyMoreConditions = "more-conditions"
	libertyOtherMessages  = "other-condition-messages"
	libertyStatusShort    = "status-short"
	libertyOtherErrors    = "other-start-errors"
	libertyNoPhase        = "no-phase"
	libertySizeFixed      = "minimum-fixed"
)

// Liberties lists the allowed differences of the simulator.
func Liberties() []liberty.Liberty {
	return slices.Concat(liberty.OfControllers(), liberty.OfRecorders(), liberty.OfManagers(),
		liberty.OfWebhooks(bugs.IDs("15 20 22 24 25 26 27 28 30 32")), []liberty.Liberty{
			{
				Name: libertyCliquesFirst, Sentence: "PodCliques are created before their PodGang; pods still after it.",
				About: bugs.IDs("40 41 42 43 44 45 46 47"),
			},
			{
				Name: libertyGroupByGroup, Sentence: "Once all pods exist, the references of each PodGroup are written separately.",
				About: bugs.IDs("42 43 44 45 46 47"),
			},
			{Name: libertyMoreConditions, Sentence: "PodGangs have a condition of a type that only this implementation knows."},
			{Name: libertyOtherMessages, Sentence: "Conditions have other messages."},
			{Name: libertyStatusShort, Sentence: "The counts in the status of PodCliques and PodCliqueSets, which the " +
				"specification does not mention, are not written."},
			{
				Name: libertyOtherErrors, Sentence: "An operator that does not start says so in other words.",
				About: bugs.IDs("04 07 10 12 16 17 18 19 57"),
			},
			{
				Name: libertyNoPhase, Sentence: "The status of PodGangs has no phase, which the specification does not mention.",
				About: bugs.IDs("48"),
			},
			{
				Name: libertySizeFixed, Sentence: "The webhook rejects a change of minAvailable.",
				About: bugs.IDs("61"),
			},
		})
}
