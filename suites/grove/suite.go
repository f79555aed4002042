// Package grove holds what is required of Grove's operator: GREP-375, the scheduler backend framework.
package grove

import (
	"context"
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
		RunConfigured: func(ctx context.Context, o simulators.Options, config []byte) error {
			return simulator.Run(ctx, simulator.Options(o), config)
		},
		Variants: simulator.Variants(), Probes: simulator.Probes(),
	}
	for _, fault := range simulator.Faults() {
		own.Faults = append(own.Faults, simulators.Fault(fault))
	}
	binding := simulators.Simulator{
		Run: func(ctx context.Context, o simulators.Options) error {
			return kaischeduler.Run(ctx, kaischeduler.Options(o))
		},
	}
	return suites.Definition{
		Name: simulator.Name, Title: "GREP-375 on Grove's simulator", Requirements: Requirements,
		Simulator: own, Others: simulators.Catalog{kaischeduler.Name: binding},
	}
}

// Requirements returns the suite's requirements in the order in which they are written.
func Requirements() ([]suites.Requirement, error) {
	return suites.LoadRequirements(files, "requirements.yaml")
}
