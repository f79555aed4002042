package suites

import (
	"slices"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// DefaultVariant stands for the simulator's own choice.
const DefaultVariant = "default"

// Variants are the variants of a system that a scenario goes through, sorted.
func Variants(c *scenarios.Scenario, system string) []string {
	var all []string
	for _, state := range c.Path() {
		definition, ok := state.System(system)
		if !ok || definition.Simulated == nil {
			continue
		}
		variant := definition.Simulated.Variant
		if variant == "" {
			variant = DefaultVariant
		}
		all = append(all, variant)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
