package planning

import (
	"context"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
)

// HasSystems says whether anything is under test that must be installed.
func HasSystems(path []clusters.State) bool {
	return slices.ContainsFunc(path, func(state clusters.State) bool { return len(state.Systems) > 0 })
}

// checkSystems says what is wrong with the systems of the last of some states, whatever the provider.
func (p *planner) checkSystems(ctx context.Context, path []clusters.State) error {
	return systems.Check(ctx, path[len(path)-1].Systems, p.options.Simulators, p.options.Modules)
}

// unbuilt are the programs of Go modules that the plan needs and that were not built yet, in the order of their use.
func (p *Plan) unbuilt() []clusters.ModuleProgram {
	var all []clusters.ModuleProgram
	for _, track := range p.Tracks {
		for _, state := range track.Path {
			for _, system := range state.Systems {
				program, ok := system.Program()
				if !ok || p.Modules == nil || slices.Contains(all, program) {
					continue
				}
				if _, cached := p.Modules.CachedModule(program); !cached {
					all = append(all, program)
				}
			}
		}
	}
	return all
}

// namesOf systems, for a person.
func namesOf(list []clusters.System) []string {
	var names []string
	for _, system := range list {
		names = append(names, system.String())
	}
	return names
}
