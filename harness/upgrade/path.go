// Package upgrade rehearses an upgrade, a rollback and another upgrade with a user's own objects, without a scenario.
package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/harness/transplant"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// Wanted describes the path that a user wants.
type Wanted struct {
	// From is the first state. To is the change to the last one. Systems change after Kubernetes.
	From clusters.State
	To   clusters.Change
	// Upgraded are the new definitions of systems that are upgraded.
	Upgraded []clusters.System
	// Systems has the simulators and modules of the path's systems, to check them.
	Systems systems.Options
	// NoRollback ends the path when it first reaches the target.
	NoRollback bool
	// NoRedeploy ends the path when it reaches the target again. The objects are not recreated and rolled back once more.
	NoRedeploy bool
	// Strategy is the way through the versions. Default: Minor.
	Strategy Strategy
}

// Path is a sequence of resolved states.
type Path struct {
	States []clusters.State
	// Ways lead to the states: upgrades.Start, Up, Back or Redeploy.
	Ways []string
}

// NewPath returns the path: an upgrade to the target (by default one minor version at a time), a rollback the same way,
// a second upgrade, then the recreation of the objects, and a second rollback. A path to an older version begins with
// the rollback. An error says what cannot be rehearsed.
func NewPath(ctx context.Context, provider clusters.Provider, w Wanted) (Path, error) {
	from, err := provider.Resolve(ctx, w.From)
	if err != nil {
		return Path{}, err
	}
	target := transplant.Changed(from, w.To)
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
	forth, undo := directions(from, to)
	p := Path{States: way[:1:1], Ways: []string{upgrades.Start}}
	p.add(way[1:], forth)
	back := slices.Clone(way[:len(way)-1])
	slices.Reverse(back)
	if !w.NoRollback {
		p.add(back, undo)
		p.add(way[1:], forth)
	}
	if !w.NoRollback && !w.NoRedeploy {
		p.add(way[len(way)-1:], upgrades.Redeploy)
		p.add(back, undo)
	}
	return p, errors.Join(provider.Check(ctx, way), systems.CheckPath(ctx, way, w.Systems))
}

// directions returns the way to the target and the way back. If the target is an older version of Kubernetes, these are
// a rollback and an upgrade.
func directions(from, to clusters.State) (forth, undo string) {
	a, errA := clusters.ParseVersion(from.Version)
	b, errB := clusters.ParseVersion(to.Version)
	if errA == nil && errB == nil && b.Compare(a) < 0 {
		return upgrades.Back, upgrades.Up
	}
	return upgrades.Up, upgrades.Back
}

// withSystems returns the states from one to the other: first Kubernetes is upgraded, then the systems change.
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
