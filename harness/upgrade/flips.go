package upgrade

import (
	"context"
	"fmt"
	"maps"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
)

// FeatureLister knows the feature gates of Kubernetes' versions.
type FeatureLister interface {
	FeatureList(ctx context.Context, version string) (*features.List, error)
}

// Flips are the gates that have another value in one state than in the other: those that are set differently, and those
// whose default is another one. Where the gates of a version are not known there are the former alone, and known is
// false.
func Flips(ctx context.Context, from FeatureLister, before, after clusters.State) (all []string, known bool) {
	set := maps.Clone(before.FeatureGates)
	if set == nil {
		set = map[string]bool{}
	}
	maps.Copy(set, after.FeatureGates)
	for _, gate := range clusters.SortedKeys(set) {
		was, wasSet := before.FeatureGates[gate]
		is, isSet := after.FeatureGates[gate]
		if was != is || wasSet != isSet {
			all = append(all, fmt.Sprintf("%s is set: %s -> %s", gate, setting(was, wasSet), setting(is, isSet)))
		}
	}
	if before.Version == after.Version && before.Emulated() == after.Emulated() || from == nil {
		return all, from != nil
	}
	emulated := before.EmulatedVersion+after.EmulatedVersion != ""
	was, err1 := gatesOf(ctx, from, before, emulated)
	is, err2 := gatesOf(ctx, from, after, emulated)
	if err1 != nil || err2 != nil {
		return all, false
	}
	for _, flip := range features.Flips(was, is) {
		if _, own := set[flip.Gate]; flip.ChangesDefault() && !own {
			all = append(all, fmt.Sprintf("%s %s", flip.Gate, flip.Kind))
		}
	}
	return all, true
}

// gatesOf are the gates of a state's programs. Where one of two states emulates a version, those of both are as their
// versions have them.
func gatesOf(ctx context.Context, from FeatureLister, state clusters.State, emulated bool) (*features.List, error) {
	list, err := from.FeatureList(ctx, state.Version)
	if err != nil || !emulated {
		return list, err
	}
	versions, err := features.VersionsIn(list.Of(), state.Flags(clusters.APIServer))
	if err != nil {
		return nil, err
	}
	return list.As(versions), nil
}

func setting(value, set bool) string {
	if !set {
		return "default"
	}
	return fmt.Sprint(value)
}
