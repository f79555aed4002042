package upgrade

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
)

// systemName is a system in the name of a state: with its version, or, where it has none, with what became of it.
func systemName(system clusters.System, first clusters.State) string {
	before, _ := first.System(system.Name)
	switch {
	case before.Version != system.Version:
		return system.Name + " " + system.Version
	case reflect.DeepEqual(before, system):
		return strings.TrimSpace(system.Name + " " + system.Version)
	default:
		return strings.TrimSpace(system.Name+" "+system.Version) + " changed"
	}
}

// changing are the names of the systems that are not the same at all states of a path.
func changing(path []clusters.State) []string {
	var names []string
	for _, state := range path {
		for _, system := range state.Systems {
			before, _ := path[0].System(system.Name)
			if !slices.Contains(names, system.Name) && !reflect.DeepEqual(before, system) {
				names = append(names, system.Name)
			}
		}
	}
	return names
}

// checkSystems says what is wrong with the systems of a path, before anything starts.
func checkSystems(ctx context.Context, path []clusters.State, o systems.Options) error {
	var checked []clusters.System
	for _, state := range path {
		for _, system := range state.Systems {
			if slices.ContainsFunc(checked, func(s clusters.System) bool { return reflect.DeepEqual(s, system) }) {
				continue
			}
			if err := systems.Check(ctx, []clusters.System{system}, o.Simulators, o.Modules); err != nil {
				return err
			}
			checked = append(checked, system)
		}
	}
	return nil
}

// equip installs the systems of the first state, where there are any.
func (r *rehearsal) equip(ctx context.Context) error {
	first := r.Path.States[0].Systems
	if len(first) == 0 {
		return nil
	}
	o := r.Systems
	o.Progress = r.Progress
	var err error
	if r.systems, err = systems.New(r.cluster, o); err != nil {
		return err
	}
	if err := r.systems.Converge(ctx, first); err != nil {
		return fmt.Errorf("install the systems: %w", err)
	}
	return nil
}

// convergeAll brings the cluster to a state, and then its systems.
func (r *rehearsal) convergeAll(ctx context.Context, state clusters.State) error {
	if r.systems != nil {
		r.systems.Hold()
	}
	if err := r.cluster.Converge(ctx, state); err != nil || r.systems == nil {
		return err
	}
	return r.systems.Converge(ctx, state.Systems)
}

// death of a component, or of a system, that ended by itself; nil where none did.
func (r *rehearsal) death() error {
	var died, ended <-chan error
	if dog, ok := r.cluster.(clusters.ProcessRunner); ok {
		died = dog.Died()
	}
	if r.systems != nil {
		ended = r.systems.Died()
	}
	select {
	case err := <-died:
		return err
	case err := <-ended:
		return err
	default:
		return nil
	}
}

// endSystems ends the systems before their cluster goes.
func (r *rehearsal) endSystems(ctx context.Context) {
	if r.systems == nil {
		return
	}
	if err := r.systems.Close(ctx, false); err != nil {
		r.Progress("%v", err)
	}
}
