package features

import (
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/component-base/featuregate"
)

const (
	RacingPods  featuregate.Feature = "RacingPods"
	RacingTeams featuregate.Feature = "RacingTeams"

	// The constant and the gate differ.
	SpellsLikeAConstant featuregate.Feature = "SpellsLikeAGate"

	notAGate = "something else"
)

var dependencies = map[featuregate.Feature][]featuregate.Feature{
	RacingPods: {},
	RacingTeams: {RacingPods, featuregate.Feature(clientfeatures.OrderlyFinish)},
	SpellsLikeAConstant: {},
	clientfeatures.OrderlyFinish: {SpellsLikeAConstant},
}
