// Package upgrade rehearses an upgrade, a rollback and another upgrade with a user's own objects, without a scenario.
package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// Wanted is what a person asks for.
type Wanted struct {
	// From and To are the first and the last state; To has what it changes only. Systems change once Kubernetes has.
	From clusters.State
	To   clusters.Change
	// Upgraded are the systems of the first state that are others in the last one, each as a whole.
	Upgraded []clusters.System
	// Systems has the simulators and the modules that the systems of the path are checked with.
	Systems systems.Options
	// NoRollback ends at the first arrival.
	NoRollback bool
	// NoRedeploy ends at the second arrival: the objects are not created anew there, and there is no second way back.
	NoRedeploy bool
	// Strategy is how the versions are gone through. Default: Minor.
	Strategy Strategy
}

// Path is a sequence of resolved states, with the way to each.
type Path struct {
	States []clusters.State
	// Ways are upgrades.Start, Up, Back and Redeploy.
	Ways []string
}

// NewPath makes the path: to the target one minor version at a time, back the same way, and there once more, where the
// objects are created anew before the last way back. Its error is of what cannot be rehearsed.
func NewPath(ctx context.Context, provider clusters.Provider, w Wanted) (Path, error) {
	from, err := provider.Resolve(ctx, w.From)
	if err != nil {
		return Path{}, err
	}
	target := from.With(w.To)
	target.Systems = slices.Clone(target.Systems)
	for i, system := range target.Systems {
		for _, upgraded := range w.Upgraded {
			if upgraded.Name == system.Name {
				target.Systems[i] = upgraded
			}
		}
	}
	to, err := provider.Resolve(ctx, target)
	if err != nil {
		return Path{}, err
	}
	way, err := withSystems(ctx, provider, from, to, w)
	if err != nil {
		return Path{}, err
	}
	if len(way) == 2 && way[0].String() == way[1].String() && len(changing(way)) == 0 {
		return Path{}, fmt.Errorf("nothing changes between %s and %s; name another version with --to, gates with "+
			"--feature-gates, or another definition of a system with --upgrade", from, to)
	}
	p := Path{States: way[:1:1], Ways: []string{upgrades.Start}}
	p.add(way[1:], upgrades.Up)
	back := slices.Clone(way[:len(way)-1])
	slices.Reverse(back)
	if !w.NoRollback {
		p.add(back, upgrades.Back)
		p.add(way[1:], upgrades.Up)
	}
	if !w.NoRollback && !w.NoRedeploy {
		p.add(way[len(way)-1:], upgrades.Redeploy)
		p.add(back, upgrades.Back)
	}
	return p, errors.Join(provider.Check(ctx, way), systems.CheckPath(ctx, way, w.Systems))
}

// withSystems are the states from one to the other: first Kubernetes goes all the way, then the systems change.
func withSystems(ctx context.Context, provider clusters.Provider, from, to clusters.State, w Wanted) ([]clusters.State,
	error,
) {
	kubernetes := to
	kubernetes.Systems = from.Systems
	if len(changing([]clusters.State{from, to})) == 0 {
		return between(ctx, provider, from, to, w.Strategy)
	}
	if kubernetes.String() == from.String() {
		return []clusters.State{from, to}, nil
	}
	way, err := between(ctx, provider, from, kubernetes, w.Strategy)
	return append(way, to), err
}

func (p *Path) add(states []clusters.State, way string) {
	for _, state := range states {
		p.States, p.Ways = append(p.States, state), append(p.Ways, way)
	}
}
