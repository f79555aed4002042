// Package grove is the suite for Grove's operator: the scheduler backend framework (GREP-375).
package grove

import (
	"embed"

	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/grove/api"
	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
	"github.com/rehearse-dev/rehearse/suites/grove/kaischeduler"
	"github.com/rehearse-dev/rehearse/suites/grove/simulator"
	kaiapi "github.com/rehearse-dev/rehearse/suites/kai/api"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

//go:embed requirements.yaml
var files embed.FS

// Definition is the suite of Grove's operator.
func Definition() suites.Definition {
	own := &simulators.Simulator{
		Run: simulator.Run, Groups: []string{api.GroupVersion.Group, scheduler.GroupVersion.Group},
		Configurable: true, Faults: simulator.Faults(), Liberties: simulator.Liberties(),
		Variants: simulator.Variants(), Probes: simulator.Probes(),
	}
	backend := simulators.Simulator{Run: kaischeduler.Run, Groups: []string{kaiapi.GroupVersion.Group}}
	return suites.Definition{
		Name: simulator.Name, Title: "GREP-375 on Grove's simulator", Files: files,
		Simulator: own, Others: simulators.Catalog{kaischeduler.Name: backend},
	}
}
