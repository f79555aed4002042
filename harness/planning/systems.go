package planning

import (
	"context"
	"errors"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
)

// HasSystems reports whether the path has systems to install.
func HasSystems(path []clusters.State) bool {
	return slices.ContainsFunc(path, func(state clusters.State) bool { return len(state.Systems) > 0 })
}

// checkSystems finds problems with the systems of the last state that do not depend on the provider.
func (p *planner) checkSystems(ctx context.Context, path []clusters.State) error {
	last := path[len(path)-1].Systems
	var err error
	for _, system := range last {
		err = errors.Join(err, p.checked.Check(ctx, system, p.options.Simulators, p.options.Modules))
	}
	if !p.options.Static {
		err = errors.Join(err, systems.CheckPorts(last))
	}
	return err
}

// unbuilt returns the plan's programs of Go modules that are not built yet, in the order of their use.
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

// namesOf joins the names of systems for a person.
func namesOf(list []clusters.System) []string {
	var names []string
	for _, system := range list {
		names = append(names, system.String())
	}
	return names
}
