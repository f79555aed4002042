// Package leaderworkerset is the suite for LeaderWorkerSet: a headless Service per replica (KEP-173).
package leaderworkerset

import (
	"embed"

	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/simulator"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

//go:embed requirements.yaml
var files embed.FS

// Definition is the suite of LeaderWorkerSet.
func Definition() suites.Definition {
	own := &simulators.Simulator{
		Run: simulator.Run, Groups: []string{api.Group},
		Faults: simulator.Faults(), Liberties: simulator.Liberties(),
		Variants: simulator.Variants(), Probes: simulator.Probes(),
	}
	return suites.Definition{
		Name: simulator.Name, System: "lws", Title: "KEP-173 on LeaderWorkerSet's simulator", Files: files,
		Simulator: own,
	}
}
