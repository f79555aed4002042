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

// Hop is the change between two consecutive states of a path.
type Hop struct {
	// From and To are the states.
	From, To clusters.State
	// Set describes the gates that the two states set differently.
	Set []string
	// Flips are the changes of gates that neither state sets. Empty if both states have the same versions.
	Flips []Flip
	// Err is the reason why Flips are unknown, otherwise nil.
	Err error
}

// Changes describes the gates whose values differ after the hop.
func (h Hop) Changes() []string {
	all := slices.Clone(h.Set)
	for _, flip := range h.Flips {
		if flip.ChangesDefault() {
			all = append(all, fmt.Sprintf("%s %s", flip.Gate, flip.Kind))
		}
	}
	return all
}

// Along returns each hop of a path. Without a lister, only the gates that the states set are known.
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

// gatesOf returns the gates of a state's programs. If emulated is true, because one of two compared states emulates a
// version, they depend on the version flags of the state.
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
