package scenarios

import (
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Variants are definitions of systems by their name and the variant that they stand for; "" is the variant of who names
// none.
type Variants map[string]map[string]clusters.System

// Substitute returns the scenario with other definitions of its systems, or why they cannot stand for what it has.
func (original *Scenario) Substitute(by Variants) (c *Scenario, why string) {
	if len(by) == 0 {
		return original, ""
	}
	c = original.WithSystems(func(step *Step, change clusters.SystemChange) clusters.System {
		if change.Remove || why != "" {
			return change.System
		}
		var system clusters.System
		if system, why = instead(change.System, by); step != nil {
			system = whole(system)
		}
		return system
	})
	if why != "" {
		return nil, why
	}
	return c, ""
}

// instead is what stands for a system; the system itself where nothing does.
func instead(system clusters.System, by Variants) (clusters.System, string) {
	variants, ok := by[system.Name]
	switch {
	case !ok:
		return system, ""
	case system.Simulated == nil:
		return system, fmt.Sprintf("its system %s is not simulated", system.Name)
	case len(system.Simulated.Faults) > 0:
		return system, fmt.Sprintf("it gives the simulator of %s faults", system.Name)
	}
	definition, ok := variants[system.Simulated.Variant]
	if !ok {
		return system, fmt.Sprintf("it needs %s, which is not given", VariantName(system.Name, system.Simulated.Variant))
	}
	return definition, ""
}

// VariantName is a variant of a system in words.
func VariantName(system, variant string) string {
	if variant == "" {
		return "system " + system
	}
	return fmt.Sprintf("variant %s of system %s", variant, system)
}

// SubstituteAll is Substitute for each of the scenarios. The error joins why it cannot be done.
func SubstituteAll(list []*Scenario, by Variants) ([]*Scenario, error) {
	var all []*Scenario
	var errs []error
	for _, original := range list {
		c, why := original.Substitute(by)
		if why != "" {
			errs = append(errs, fmt.Errorf("%s: scenario %s: %s; leave the scenario out (--focus, --label)",
				original.ClusterPosition, original.Title(), why))
			continue
		}
		all = append(all, c)
	}
	return all, errors.Join(errs...)
}

// whole makes a system's definition a change that leaves nothing of the one before: what it does not say, it says to be
// empty.
func whole(system clusters.System) clusters.System {
	if system.Launched() == nil {
		return system
	}
	p := *system.Launched()
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
	if p.Objects == nil {
		p.Objects = []map[string]any{}
	}
	if p.Ready == nil {
		p.Ready = &clusters.SystemReadiness{}
	}
	if system.Module != nil {
		module := *system.Module
		module.SystemProcess = p
		system.Module = &module
	} else {
		system.Process = &p
	}
	if system.Probes == nil {
		system.Probes = []map[string]any{}
	}
	return system
}
