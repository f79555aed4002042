package scenarios

import (
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Variants are definitions of systems, by the name of the system and the variant that they replace. The variant "" is
// that of systems that set none.
type Variants map[string]map[string]clusters.System

// Substitute returns a copy of the scenario in which other definitions replace its simulated systems. If they cannot
// replace them, it returns nil and the reason.
func (original *Scenario) Substitute(by Variants) (c *Scenario, why string) {
	if len(by) == 0 {
		return original, ""
	}
	c = original.WithSystems(func(step *Step, change clusters.SystemChange) clusters.System {
		if change.Remove || why != "" {
			return change.System
		}
		var system clusters.System
		system, why = instead(change.System, by)
		if _, replaced := by[system.Name]; replaced && step != nil {
			return whole(system)
		}
		return system
	})
	if why != "" {
		return nil, why
	}
	return c, ""
}

// instead returns the definition that replaces a system, or the reason why it cannot be replaced. A system without a
// definition in by stays unchanged.
func instead(system clusters.System, by Variants) (clusters.System, string) {
	variants, ok := by[system.Name]
	switch {
	case !ok, changesCalls(system):
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
	definition, err := definition.Configured(system.Simulated.Config)
	if err == nil {
		definition, err = withCalls(definition, system)
	}
	if err != nil {
		return system, err.Error()
	}
	return definition, ""
}

// changesCalls reports whether a change of a system changes only how its webhooks are called.
func changesCalls(change clusters.System) bool {
	return change.Kind() == "" && change.WebhookCalls != nil && change.Version == "" && change.Probes == nil
}

// withCalls returns the definition that replaces a system. The calls of its webhooks are those of the system.
func withCalls(definition, replaced clusters.System) (clusters.System, error) {
	if replaced.WebhookCalls == nil {
		return definition, nil
	}
	if !replaced.WebhookCalls.Usual() && definition.Kind() == "manifests" {
		return definition, fmt.Errorf("it changes webhookCalls of %s, and a system of manifests does not support that",
			replaced.Name)
	}
	definition.WebhookCalls = replaced.WebhookCalls
	return definition, nil
}

// VariantName describes a variant of a system.
func VariantName(system, variant string) string {
	if variant == "" {
		return "system " + system
	}
	return fmt.Sprintf("variant %s of system %s", variant, system)
}

// SubstituteAll calls Substitute for each scenario. The error joins the reasons of all scenarios for which it fails,
// and the names that no scenario has.
func SubstituteAll(list []*Scenario, by Variants) ([]*Scenario, error) {
	var all []*Scenario
	var errs []error
	for _, name := range clusters.SortedKeys(by) {
		if _, found := eachSystem(list, name, keep); !found {
			errs = append(errs, fmt.Errorf("replace system %s: %w", name, ErrNoSuchSystem))
		}
	}
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

func keep(_ *Scenario, _ *Step, _ bool, system clusters.System) clusters.System { return system }

// whole returns the definition as a change that replaces the earlier environment, files, CRDs, webhooks, objects,
// readiness and probes. A change keeps settings that are nil, so whole sets them to empty values.
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
