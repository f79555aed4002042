package simulator

import (
	"slices"

	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

const (
	libertyDefaultsInSchema = "defaults-in-schema"
	libertyStatusUnwritten  = "status-unwritten"
	libertyMoreConditions   = "more-conditions"
	libertyRevisionsKept    = "revisions-kept"
	libertyServicePorts     = "services-have-ports"
	libertyWorkersFirst     = "workers-before-service"
)

// Liberties lists the allowed differences of the simulator.
func Liberties() []liberty.Liberty {
	return slices.Concat(liberty.OfControllers(), liberty.OfManagers(), liberty.OfWebhooks([]string{"LWS-L04"}),
		[]liberty.Liberty{
			{
				Name: libertyDefaultsInSchema, Sentence: "The policy's default is in the API's schema, and not in the webhook.",
				About: []string{"LWS-L01", "LWS-L02", "LWS-L03", "LWS-L06", "LWS-L07", "LWS-L08", "LWS-L51"},
			},
			{Name: libertyStatusUnwritten, Sentence: "The status of a LeaderWorkerSet, which KEP-173 does not mention, is not " +
				"written."},
			{
				Name: libertyMoreConditions, Sentence: "The status has a condition of a type that only this implementation knows.",
				Unlike: []string{libertyStatusUnwritten},
			},
			{Name: libertyRevisionsKept, Sentence: "Revisions that no group uses are kept."},
			{Name: libertyServicePorts, Sentence: "Services have a port and an additional label."},
			{
				Name:     libertyWorkersFirst,
				Sentence: "The StatefulSet of a group's workers is created before the replica's Service.",
			},
		})
}
