package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Strategy is how an upgrade goes through the versions.
type Strategy string

// The strategies. The last two have new programs emulate an older version first (KEP-4330).
const (
	// Minor goes one minor version at a time.
	Minor Strategy = "minor"
	// TwoStep does the same, but each minor version in two steps: the new programs, as the version before; then as their
	// own.
	TwoStep Strategy = "two-step"
	// SkipLevel starts the last version's programs at once, as the first version, and then has them be one minor version
	// after the other.
	SkipLevel Strategy = "skip-level"
)

// Strategies lists them, the default first.
func Strategies() []Strategy { return []Strategy{Minor, TwoStep, SkipLevel} }

// between are the states from one to the other, by a strategy: those in the middle are the first one in another
// version.
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
		return nil, fmt.Errorf("from %s to %s: there is no upgrade to another major version", first, last)
	case emulates && first.Minor == last.Minor:
		return nil, fmt.Errorf("strategy %s from %s to %s: it is for a change of the minor version", by, first, last)
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

// middle are the states between the lower and the higher version, upwards.
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

// in is a state in another version.
func in(from clusters.State, version, emulated string) clusters.State {
	next := from.With(clusters.Change{Version: version})
	next.EmulatedVersion = emulated
	return next
}
