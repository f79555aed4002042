// Package porch is the suite for Porch's engine: its validation and business rules.
package porch

import (
	"embed"

	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/porch/simulator"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

//go:embed requirements.yaml
var files embed.FS

// Definition is the suite of Porch's engine.
func Definition() suites.Definition {
	own := &simulators.Simulator{
		Run: simulator.Run, Groups: simulator.Groups(),
		Faults: simulator.Faults(), Liberties: simulator.Liberties(),
		Variants: simulator.Variants(), Probes: simulator.Probes(), Hosts: simulator.Hosts(),
	}
	return suites.Definition{
		Name: simulator.Name, Title: "The rules of Porch's engine", Files: files,
		Rules: Rules(), Simulator: own,
	}
}
