package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Strategy is the way of an upgrade through the versions.
type Strategy string

// The strategies. With the last two, the new programs first emulate an older version (KEP-4330).
const (
	// Minor upgrades one minor version at a time.
	Minor Strategy = "minor"
	// TwoStep upgrades each minor version in two steps. First the new programs emulate the version before. Then they stop
	// emulating.
	TwoStep Strategy = "two-step"
	// SkipLevel starts the programs of the last version at once. They emulate the first version, and then one minor
	// version after the other.
	SkipLevel Strategy = "skip-level"
)

// Strategies lists them, the default first.
func Strategies() []Strategy { return []Strategy{Minor, TwoStep, SkipLevel} }

// between returns the states from one to the other, by a strategy. States in the middle are equal to the first one,
// except for the version.
func between(ctx context.Context, provider clusters.Provider, from, to clusters.State,
	by Strategy,
) ([]clusters.State, error) {
	first, err1 := clusters.ParseVersion(from.Version)
	last, err2 := clusters.ParseVersion(to.Version)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	switch emulates := by == TwoStep || by == SkipLevel; {
	case first.Major != last.Major:
		return nil, fmt.Errorf("from %s to %s: an upgrade to another major version is not supported", first, last)
	case emulates && first.Minor == last.Minor:
		return nil, fmt.Errorf("strategy %s from %s to %s: the minor version must change", by, first, last)
	case emulates && from.EmulatedVersion+to.EmulatedVersion != "":
		return nil, fmt.Errorf("strategy %s: neither the first nor the last state can emulate a version", by)
	}
	var middle []clusters.State
	if first.Minor <= last.Minor {
		middle = by.middle(from, first, last)
	} else {
		middle = by.middle(from, last, first)
		slices.Reverse(middle)
	}
	way := []clusters.State{from}
	for _, state := range middle {
		resolved, err := provider.Resolve(ctx, state)
		if err != nil {
			return nil, err
		}
		if err := resolved.CheckEmulation(); err != nil {
			return nil, fmt.Errorf("strategy %s, %s: %w", by, resolved, err)
		}
		way = append(way, resolved)
	}
	return append(way, to), nil
}

// middle are the states between the lower and the higher version, in ascending order.
func (by Strategy) middle(from clusters.State, lower, higher clusters.Version) []clusters.State {
	minor := func(number int) string {
		return clusters.Version{Major: lower.Major, Minor: number, Patch: -1}.String()
	}
	var all []clusters.State
	for number := lower.Minor; number < higher.Minor; number++ {
		switch next := minor(number + 1); by {
		case TwoStep:
			if number+1 == higher.Minor {
				next = higher.String()
			}
			all = append(all, in(from, next, minor(number)))
			if number+1 < higher.Minor {
				all = append(all, in(from, next, ""))
			}
		case SkipLevel:
			all = append(all, in(from, higher.String(), minor(number)))
		default:
			if number > lower.Minor {
				all = append(all, in(from, minor(number), ""))
			}
		}
	}
	return all
}

// in is a state with another version.
func in(from clusters.State, version, emulated string) clusters.State {
	next := from.With(clusters.Change{Version: version})
	next.EmulatedVersion = emulated
	return next
}
