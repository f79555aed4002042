package features

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Lister knows the feature gates of Kubernetes' versions.
type Lister interface {
	FeatureList(ctx context.Context, version string) (*List, error)
}

// Hop is what flips between two states of a path that follow each other.
type Hop struct {
	// From and To are the states.
	From, To clusters.State
	// Set are the gates that the states set differently, in words.
	Set []string
	// Flips are those that neither state sets. None where both states have the same version.
	Flips []Flip
	// Err says why Flips are not known; nil where they are.
	Err error
}

// Changes are the gates that have another value after the hop than before it, in words.
func (h Hop) Changes() []string {
	all := slices.Clone(h.Set)
	for _, flip := range h.Flips {
		if flip.ChangesDefault() {
			all = append(all, fmt.Sprintf("%s %s", flip.Gate, flip.Kind))
		}
	}
	return all
}

// Along says what flips at each hop of a path. Without a lister only the gates that states set are known.
func Along(ctx context.Context, from Lister, path ...clusters.State) []Hop {
	var hops []Hop
	for i := 1; i < len(path); i++ {
		hops = append(hops, hopBetween(ctx, from, path[i-1], path[i]))
	}
	return hops
}

func hopBetween(ctx context.Context, from Lister, before, after clusters.State) Hop {
	hop := Hop{From: before, To: after}
	set := map[string]bool{}
	maps.Copy(set, before.FeatureGates)
	maps.Copy(set, after.FeatureGates)
	for _, gate := range clusters.SortedKeys(set) {
		was, is := setting(before, gate), setting(after, gate)
		if was != is {
			hop.Set = append(hop.Set, fmt.Sprintf("%s is set: %s -> %s", gate, was, is))
		}
	}
	if from == nil {
		hop.Err = errors.New("there are no lists of feature gates")
		return hop
	}
	if before.Version == after.Version && before.Emulated() == after.Emulated() {
		return hop
	}
	emulated := before.EmulatedVersion+after.EmulatedVersion != ""
	was, err1 := gatesOf(ctx, from, before, emulated)
	is, err2 := gatesOf(ctx, from, after, emulated)
	if hop.Err = errors.Join(err1, err2); hop.Err != nil {
		return hop
	}
	for _, flip := range Flips(was, is) {
		if _, own := set[flip.Gate]; !own {
			hop.Flips = append(hop.Flips, flip)
		}
	}
	return hop
}

// gatesOf are the gates of a state's programs. Where one of two states emulates a version, those of both are as their
// versions have them.
func gatesOf(ctx context.Context, from Lister, state clusters.State, emulated bool) (*List, error) {
	list, err := from.FeatureList(ctx, state.Version)
	if err != nil || !emulated {
		return list, err
	}
	versions, err := VersionsIn(list.Of(), state.Flags(clusters.APIServer))
	if err != nil {
		return nil, err
	}
	return list.As(versions), nil
}

func setting(state clusters.State, gate string) string {
	value, set := state.FeatureGates[gate]
	if !set {
		return "default"
	}
	return fmt.Sprint(value)
}
