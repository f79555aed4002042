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
	libertyErrorsMeanwhile  = "errors-meanwhile"
	libertyNumbered         = "numbered-revisions"
	libertyMoreSelectors    = "more-selectors"
	libertyRestartNone      = "restart-none-by-default"
)

// Liberties lists the allowed differences of the simulator.
func Liberties() []liberty.Liberty {
	return slices.Concat(liberty.OfControllers(), liberty.OfRecorders(), liberty.OfManagers(),
		liberty.OfWebhooks([]string{"LWS-L04", "LWS-L66"}), []liberty.Liberty{
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
			{
				Name: libertyErrorsMeanwhile, Sentence: "While an object of an earlier leader, or of another owner, has the " +
					"name of a dependent, each reconcile returns an error, and is retried after growing pauses; nothing watches " +
					"the replicas' Services.",
			},
			{
				Name: libertyNumbered, Sentence: "A policy or template that returns is a new revision, so every pod is replaced.",
				About: bugs.IDs("50 51 53 55 56 57 63 64"),
			},
			{
				Name: libertyMoreSelectors, Sentence: "A replica's Service also selects by a label that KEP-173 does not mention.",
				About: bugs.IDs("12 14 15 16 17 18 19 20 24 25"),
			},
			{
				Name: libertyRestartNone, Sentence: "The default of restartPolicy, which KEP-173 does not mention, is None.",
				About: bugs.IDs("18 19 57 64 68"),
			},
		})
}
