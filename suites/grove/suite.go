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
		Name: simulator.Name, Title: "GREP-375 on Grove's simulator", Requirements: Requirements,
		Simulator: own, Others: simulators.Catalog{kaischeduler.Name: {Run: kaischeduler.Run}},
	}
}

// Requirements returns the suite's requirements in the order in which they are written.
func Requirements() ([]suites.Requirement, error) {
	return suites.LoadRequirements(files, "requirements.yaml")
}
