package suites

import (
	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// WithFaults returns copies of the scenarios in which the simulated system of that name has the faults: from its
// installation on, and through all its changes.
func WithFaults(list []*scenarios.Scenario, system string, faults []string) []*scenarios.Scenario {
	return withSimulated(list, system, func(s *clusters.Simulated) { s.Faults = reports.Union(s.Faults, faults) })
}

// WithLiberties is WithFaults for liberties.
func WithLiberties(list []*scenarios.Scenario, system string, liberties []string) []*scenarios.Scenario {
	return withSimulated(list, system, func(s *clusters.Simulated) { s.Liberties = reports.Union(s.Liberties, liberties) })
}

// Simulates reports whether a scenario installs the simulated system of that name.
func Simulates(list []*scenarios.Scenario, system string) (found bool) {
	withSimulated(list, system, func(*clusters.Simulated) { found = true })
	return found
}

// withSimulated returns copies of the scenarios in which the simulator of the system of that name is changed.
func withSimulated(list []*scenarios.Scenario, system string, change func(*clusters.Simulated)) []*scenarios.Scenario {
	var all []*scenarios.Scenario
	for _, s := range list {
		all = append(all, s.WithSystems(func(_ *scenarios.Step, of clusters.SystemChange) clusters.System {
			return changed(of.System, system, change)
		}))
	}
	return all
}

func changed(definition clusters.System, system string, change func(*clusters.Simulated)) clusters.System {
	if definition.Name != system || definition.Simulated == nil {
		return definition
	}
	simulated := *definition.Simulated
	change(&simulated)
	definition.Simulated = &simulated
	return definition
}
