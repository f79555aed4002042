// Package grove is the suite for Grove's operator: the scheduler backend framework (GREP-375).
package grove

import (
	"embed"

	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/grove/kaischeduler"
	"github.com/rehearse-dev/rehearse/suites/grove/simulator"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

//go:embed requirements.yaml
var files embed.FS

// Definition is the suite of Grove's operator.
func Definition() suites.Definition {
	own := &simulators.Simulator{
		Run: simulator.Run, Configurable: true, Faults: simulator.Faults(), Liberties: simulator.Liberties(),
		Variants: simulator.Variants(), Probes: simulator.Probes(),
	}
	return suites.Definition{
		Name: simulator.Name, Title: "GREP-375 on Grove's simulator", Files: files,
		Simulator: own, Others: simulators.Catalog{kaischeduler.Name: {Run: kaischeduler.Run}},
	}
}
