package conformance

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// substituted returns the scenario with other definitions of its systems, by their name and variant; or why it cannot be had so.
func substituted(original *scenarios.Scenario, by map[string]map[string]clusters.System) (c *scenarios.Scenario, why string) {
	if len(by) == 0 {
		return original, ""
	}
	copied := *original
	copied.Spec.Cluster.Systems = slices.Clone(original.Spec.Cluster.Systems)
	for i, system := range copied.Spec.Cluster.Systems {
		if copied.Spec.Cluster.Systems[i], why = instead(system, by); why != "" {
			return nil, why
		}
	}
	copied.Spec.Steps = slices.Clone(original.Spec.Steps)
	for i := range copied.Spec.Steps {
		if copied.Spec.Steps[i].Transition == nil {
			continue
		}
		transition := *copied.Spec.Steps[i].Transition
		transition.Systems = slices.Clone(transition.Systems)
		for j, change := range transition.Systems {
			if change.Remove {
				continue
			}
			system, why := instead(change.System, by)
			if why != "" {
				return nil, why
			}
			transition.Systems[j].System = whole(system)
		}
		copied.Spec.Steps[i].Transition = &transition
	}
	return &copied, ""
}

// instead is what stands for a system; the system itself where nothing does.
func instead(system clusters.System, by map[string]map[string]clusters.System) (clusters.System, string) {
	variants, ok := by[system.Name]
	switch {
	case !ok:
		return system, ""
	case system.Simulated == nil:
		return system, fmt.Sprintf("it defines or changes system %s otherwise than as a simulator of a variant", system.Name)
	case len(system.Simulated.Faults) > 0:
		return system, fmt.Sprintf("it gives the simulator of %s faults", system.Name)
	}
	definition, ok := variants[system.Simulated.Variant]
	if !ok {
		return system, fmt.Sprintf("it needs %s, which is not given", variantName(system.Name, system.Simulated.Variant))
	}
	return definition, ""
}

// whole makes a system's definition a change that leaves nothing of the one before: what it does not say, it says to be empty.
func whole(system clusters.System) clusters.System {
	if system.Process == nil {
		return system
	}
	p := *system.Process
	if p.Env == nil {
		p.Env = map[string]string{}
	}
	if p.Files == nil {
		p.Files = map[string]string{}
	}
	if p.CRDs == nil {
		p.CRDs = []string{}
	}
	if p.Webhooks == nil {
		p.Webhooks = []string{}
	}
	if p.Ready == nil {
		p.Ready = &clusters.SystemReadiness{}
	}
	system.Process = &p
	if system.Probes == nil {
		system.Probes = []map[string]any{}
	}
	return system
}
