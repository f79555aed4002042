package explore

import (
	"context"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/clusters"
)

// gateSearch finds which gate causes each finding.
type gateSearch struct {
	*exploration
	// send lets objects cross a path (exploration.cross).
	send func(context.Context, []clusters.State, []*entry, time.Duration) ([]*sighting, int, error)
	mu   sync.Mutex
	// digits of the findings that crossed.
	digits map[*group]*digits
}

// digits are what is known of the number of a finding's gate.
type digits struct {
	// shown are those that show the finding. known are those whose cluster reached the end of the finding's path.
	shown, known int
}

// run gives each finding its gate. An object that depends on one gate may fail because of another one, so the gates of
// the objects are only a first guess. All findings cross with half of the gates turned off, for each digit of the
// binary numbers of the gates. The digits that show a finding are the number of its gate.
func (s *gateSearch) run(ctx context.Context) error {
	if len(s.Gates) < 2 || len(s.groups) == 0 {
		return nil
	}
	sets := s.sets()
	var working errgroup.Group
	working.SetLimit(crossedAtOnce)
	for _, path := range longest(pathsOf(s.groups)) {
		for digit, off := range sets {
			working.Go(func() error { return s.cross(ctx, path, off, digit) })
		}
	}
	if err := working.Wait(); err != nil {
		return err
	}
	if s.timeUp("finding the gates of findings") {
		return context.Cause(ctx)
	}
	for _, g := range s.groups {
		number := s.digits[g]
		if number == nil {
			continue
		}
		g.gate = s.decoded(g, *number, sets)
		if number.known != whole(sets) {
			s.report.Unjudged = append(s.report.Unjudged, fmt.Sprintf("%s: %s: it is not certain which gate causes it, "+
				"because a cluster with some gates off broke", g.finding.Kind, g.finding.What))
		}
	}
	return context.Cause(ctx)
}

// sets are the gates that are turned off together, for each binary digit. A finding that no set shows has no gate, so
// the numbers begin with 1. A finding that all sets show needs no gate, so no number has only ones.
func (e Options) sets() []map[string]bool {
	sets := make([]map[string]bool, bits.Len(uint(len(e.Gates)+1)))
	for digit := range sets {
		sets[digit] = map[string]bool{}
		for i, gate := range e.Gates {
			if (i+1)>>digit&1 == 1 {
				maps.Copy(sets[digit], e.lowered(gate))
			}
		}
	}
	return sets
}

// cross lets the smallest objects of the findings on a path cross it, with only some gates turned off.
func (s *gateSearch) cross(ctx context.Context, path []clusters.State, off map[string]bool, digit int) error {
	if s.limit.Err() != nil {
		return nil
	}
	part := slices.Clone(path)
	for i, state := range path {
		if nameOf(state) == nameOf(s.Path[1]) {
			part[i] = s.partly(off)
		}
	}
	var entries []*entry
	var groups []*group
	for _, g := range s.groups {
		if g.smallest == nil || g.broken() || g.birth() || !begins(path, g.path) {
			continue
		}
		if one := variantOf(part[0], g.smallest, g.smallest.Object(), ""); one != nil {
			entries, groups = append(entries, one), append(groups, g)
		}
	}
	if len(entries) == 0 {
		return nil
	}
	s.Progress("finding the gates of %d findings: turning off %d gates", len(groups), len(off))
	seen, reached, err := s.send(ctx, part, entries, s.settleFor(groups))
	if err != nil {
		return fmt.Errorf("find the gates of findings: %w", err)
	}
	shows := shownBy(seen)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, g := range groups {
		number := s.digits[g]
		if number == nil {
			number = &digits{}
			s.digits[g] = number
		}
		if reached >= len(g.path) {
			number.known |= 1 << digit
		}
		if like(shows[entries[i]], g.keyOn(part[:len(g.path)])) != nil {
			number.shown |= 1 << digit
		}
	}
	return nil
}

// longest are the paths that no longer path begins with.
func longest(all [][]clusters.State) [][]clusters.State {
	return slices.DeleteFunc(slices.Clone(all), func(path []clusters.State) bool {
		return slices.ContainsFunc(all, func(other []clusters.State) bool {
			return len(other) > len(path) && begins(other, path)
		})
	})
}

// begins reports whether a path begins with another one.
func begins(path, with []clusters.State) bool {
	return strings.HasPrefix(hopsOf(path)+"|", hopsOf(with)+"|")
}

// whole has all digits.
func whole(sets []map[string]bool) int { return 1<<len(sets) - 1 }

// decoded is the gate whose digits show a finding; "" if there is none. Several gates may have the same digits, because
// other gates need them, or because not all digits are known. Then it is the one that was found with dry runs. If the
// search shows no gate, a finding that a dry run also shows keeps its gate.
func (e Options) decoded(g *group, number digits, sets []map[string]bool) string {
	var found []string
	for _, gate := range e.Gates {
		pattern := 0
		for digit, off := range sets {
			if off[gate.Name] {
				pattern |= 1 << digit
			}
		}
		if pattern&number.known == number.shown&number.known {
			found = append(found, gate.Name)
		}
	}
	judgedOtherwise := slices.ContainsFunc(g.checks, func(check string) bool {
		return check != "create" && check != "apply"
	})
	switch {
	case len(found) == 1 && number.known == whole(sets):
		return found[0]
	case slices.Contains(found, g.gate), len(found) == 0 && !judgedOtherwise:
		return g.gate
	}
	return ""
}

// lowered are the gates that are off if a gate is off: itself, and those that need it.
func (e Options) lowered(gate Gate) map[string]bool {
	all := map[string]bool{gate.Name: true}
	for _, component := range clusters.ControlPlane() {
		before := e.Base.Gates(component)
		for name, value := range gate.Off.Gates(component) {
			if was, set := before[name]; !value && (!set || was) {
				all[name] = true
			}
		}
	}
	return all
}

// partly is the state in which only some of the explored gates are off.
func (e Options) partly(off map[string]bool) clusters.State {
	high, low := e.Path[0], e.Path[1]
	state := high
	state.FeatureGates = mixed(high.FeatureGates, low.FeatureGates, off)
	state.Components = map[clusters.Component]clusters.ComponentState{}
	maps.Copy(state.Components, high.Components)
	for name, component := range low.Components {
		of := state.Components[name]
		of.FeatureGates = mixed(of.FeatureGates, component.FeatureGates, off)
		state.Components[name] = of
	}
	return state
}

// mixed are the high values, except of the gates that are off.
func mixed(high, low, off map[string]bool) map[string]bool {
	all := maps.Clone(high)
	for name, value := range low {
		if !off[name] {
			continue
		}
		if all == nil {
			all = map[string]bool{}
		}
		all[name] = value
	}
	return all
}
