package suites

import (
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// WithFaults returns the scenarios with faults added wherever they say that a system of that name is simulated: from its installation on, and
// through all its changes. The scenarios themselves stay as they are.
func WithFaults(list []*scenarios.Scenario, system string, faults []string) []*scenarios.Scenario {
	var all []*scenarios.Scenario
	for _, original := range list {
		c := *original
		c.Spec.Cluster.Systems = slices.Clone(original.Spec.Cluster.Systems)
		for i, definition := range c.Spec.Cluster.Systems {
			c.Spec.Cluster.Systems[i] = withFaults(definition, system, faults)
		}
		c.Spec.Steps = slices.Clone(original.Spec.Steps)
		for i := range c.Spec.Steps {
			if c.Spec.Steps[i].Transition == nil {
				continue
			}
			transition := *c.Spec.Steps[i].Transition
			transition.Systems = slices.Clone(transition.Systems)
			for j, change := range transition.Systems {
				transition.Systems[j].System = withFaults(change.System, system, faults)
			}
			c.Spec.Steps[i].Transition = &transition
		}
		all = append(all, &c)
	}
	return all
}

func withFaults(definition clusters.System, system string, faults []string) clusters.System {
	if definition.Name != system || definition.Simulated == nil {
		return definition
	}
	simulated := *definition.Simulated
	simulated.Faults = slices.Clone(simulated.Faults)
	for _, fault := range faults {
		if !slices.Contains(simulated.Faults, fault) {
			simulated.Faults = append(simulated.Faults, fault)
		}
	}
	definition.Simulated = &simulated
	return definition
}
