package explore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/skew"
	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/harness/survey"
)

// rounds is the maximum number of reduction rounds.
const rounds = 4

// reduce makes the object of each finding small, and its path short. All variants of all findings on one path cross it
// together. If several gates are explored, that path flips all of them, because otherwise each gate would need its own
// clusters. In the end each finding gets the path of its own gate.
func (e *exploration) reduce(ctx context.Context) error {
	for _, g := range e.groups {
		g.path = e.shortest(g)
	}
	err := e.shrink(ctx)
	e.groups = merged(e.groups)
	for _, g := range e.groups {
		e.isolate(g)
	}
	return err
}

// shrink makes the objects of all findings smaller.
func (e *exploration) shrink(ctx context.Context) error {
	for _, path := range pathsOf(e.groups) {
		var reducing []*reduction
		for _, g := range e.groups {
			if g.smallest != nil && !g.broken() && hopsOf(g.path) == hopsOf(path) {
				reducing = append(reducing, &reduction{group: g})
			}
		}
		for round := range rounds {
			if e.late("reducing the objects of findings") {
				return context.Cause(ctx)
			}
			more, err := e.round(ctx, path, reducing, round)
			if err != nil {
				return err
			}
			if !more {
				break
			}
		}
	}
	return context.Cause(ctx)
}

// merged joins findings that were reduced to the same object: other differences of their objects do not matter.
func merged(all []*group) []*group {
	var kept []*group
	for _, g := range all {
		at := slices.IndexFunc(kept, func(other *group) bool {
			return g.smallest != nil && other.smallest != nil && other.key == g.key && hopsOf(other.path) == hopsOf(g.path) &&
				bytes.Equal(other.smallest.Body, g.smallest.Body)
		})
		if at < 0 {
			kept = append(kept, g)
			continue
		}
		first := kept[at]
		first.entries = append(first.entries, g.entries...)
		gates := strings.Split(g.gate, ",")
		first.gate = strings.Join(slices.DeleteFunc(strings.Split(first.gate, ","), func(gate string) bool {
			return !slices.Contains(gates, gate)
		}), ",")
		for _, kind := range g.kinds {
			if !slices.Contains(first.kinds, kind) {
				first.kinds = append(first.kinds, kind)
			}
		}
	}
	return kept
}

// shortest is the shortest path that can show a finding.
func (e Options) shortest(g *group) []clusters.State {
	switch {
	case g.birth():
		return []clusters.State{g.to}
	case g.smallest != nil && g.smallest.written && nameOf(g.from) != nameOf(g.before):
		return []clusters.State{g.from, g.before, g.to} // the state before the hop must write it
	case nameOf(g.from) != nameOf(g.to) && (nameOf(g.from) == nameOf(g.before) || allowed(g.from, g.to)):
		return []clusters.State{g.from, g.to}
	}
	return []clusters.State{g.from, g.before, g.to}
}

// isolate replaces the path of all gates by that of the finding's own gate.
func (e Options) isolate(g *group) {
	gate := e.gateOf(g.gate)
	if gate == nil || len(e.Gates) < 2 {
		return
	}
	common := g.route
	g.common = &common
	alone := func(state clusters.State) clusters.State {
		if nameOf(state) == nameOf(e.Path[0]) {
			return gate.On
		}
		return gate.Off
	}
	g.from, g.before, g.to = alone(g.from), alone(g.before), alone(g.to)
	g.path = nil
	for _, state := range common.path {
		g.path = append(g.path, alone(state))
	}
}

// allowed says whether the version skew policy allows a step.
func allowed(from, to clusters.State) bool {
	before, err1 := clusters.ParseVersion(from.Version)
	after, err2 := clusters.ParseVersion(to.Version)
	return errors.Join(err1, err2) == nil && skew.Check(before, after) == nil
}

func hopsOf(path []clusters.State) string {
	var names []string
	for _, state := range path {
		names = append(names, nameOf(state))
	}
	return strings.Join(names, "|")
}

// pathsOf are the different paths of groups.
func pathsOf(groups []*group) [][]clusters.State {
	var all [][]clusters.State
	for _, g := range groups {
		if !slices.ContainsFunc(all, func(path []clusters.State) bool { return hopsOf(path) == hopsOf(g.path) }) {
			all = append(all, g.path)
		}
	}
	return all
}

// reduction is the search for the smallest object of one finding.
type reduction struct {
	group *group
	// working are places that can each be removed from the smallest object without losing the finding.
	working []fields.Place
	done    bool
}

// variant is a smaller version of an object.
type variant struct {
	*reduction
	entry   *entry
	removed []fields.Place
}

// round lets variants of all findings cross the path. In even rounds each variant lacks one field. In odd rounds it
// lacks several of the fields that could each be removed alone.
func (e *exploration) round(ctx context.Context, path []clusters.State, reducing []*reduction, round int) (more bool,
	err error,
) {
	var all []*variant
	for _, r := range reducing {
		if r.done {
			continue
		}
		if round%2 == 0 {
			all = append(all, r.singles(path[0])...)
		} else {
			all = append(all, r.together(path[0])...)
		}
	}
	if len(all) == 0 {
		return false, nil
	}
	e.Progress("reducing the objects of %d findings: %d variants on %s", len(reducing), len(all),
		strings.ReplaceAll(hopsOf(path), "|", " -> "))
	entries := make([]*entry, len(all))
	for i, v := range all {
		entries[i] = v.entry
	}
	seen, err := e.cross(ctx, path, entries, e.settleFor(reducing))
	if err != nil {
		return false, err
	}
	shows := map[*entry]map[string]bool{}
	for _, s := range seen {
		for _, one := range s.entries {
			if shows[one] == nil {
				shows[one] = map[string]bool{}
			}
			shows[one][keyOf(s)] = true
		}
	}
	for _, r := range reducing {
		if !r.done {
			r.learn(all, shows, round, path)
		}
	}
	return slices.ContainsFunc(reducing, func(r *reduction) bool { return !r.done }), nil
}

// settleFor is how long the untouched cluster is watched at each state. Only findings about what happens by itself need
// that.
func (e Options) settleFor(reducing []*reduction) time.Duration {
	for _, r := range reducing {
		for _, check := range r.group.checks {
			if check == string(survey.Moved) || check == string(survey.Condition) {
				return e.Settle
			}
		}
	}
	return 0
}

// keyOn is the group's key on another path.
func (g *group) keyOn(path []clusters.State) string {
	parts := strings.SplitN(g.key, "|", 3)
	return strings.Join([]string{nameOf(path[max(len(path)-2, 0)]), nameOf(path[len(path)-1]), parts[2]}, "|")
}

// learn records which variants show the finding.
func (r *reduction) learn(all []*variant, shows map[*entry]map[string]bool, round int, path []clusters.State) {
	before := len(r.group.smallest.Body)
	r.working = nil
	for _, v := range all {
		if v.reduction != r || !shows[v.entry][r.group.keyOn(path)] {
			continue
		}
		if round%2 == 0 {
			r.working = append(r.working, v.removed...)
		} else if len(v.entry.Body) < len(r.group.smallest.Body) {
			r.group.smallest = v.entry
		}
	}
	if round%2 == 0 {
		r.done = len(r.working) == 0
	} else {
		r.done = len(r.group.smallest.Body) == before
	}
}

// singles are the variants that each lack one field or list item.
func (r *reduction) singles(first clusters.State) []*variant {
	object := r.group.smallest.Object()
	var all []*variant
	seen := map[string]bool{}
	for _, leaf := range growth.Places(object) {
		for n := 1; n <= len(leaf); n++ {
			place := leaf[:n:n]
			f := r.group.smallest.Kind.Root.At(place)
			if seen[place.String()] || f == nil || f.Required {
				continue
			}
			seen[place.String()] = true
			if v := r.without(first, place); v != nil {
				all = append(all, v)
			}
		}
	}
	return all
}

// together are the variants without all working places, without either half of them, and without each of them.
func (r *reduction) together(first clusters.State) []*variant {
	n := len(r.working)
	sets := [][]fields.Place{r.working, r.working[:n/2], r.working[n/2:]}
	for _, place := range r.working {
		sets = append(sets, []fields.Place{place})
	}
	var all []*variant
	for _, set := range sets {
		if v := r.without(first, set...); v != nil && len(set) > 0 {
			all = append(all, v)
		}
	}
	return all
}

// without is the smallest object without some places; nil if it has none of them.
func (r *reduction) without(first clusters.State, places ...fields.Place) *variant {
	object := r.group.smallest.Object()
	removed := false
	for _, place := range slices.Backward(places) { // later list items first: removing one renumbers those after it
		removed = fields.Remove(object, place) || removed
	}
	if !removed {
		return nil
	}
	specimen := *r.group.smallest.Specimen
	specimen.Body = growth.Text(object)
	specimen.Value += fmt.Sprint(" without ", places)
	one := &entry{
		Specimen: &specimen, verdicts: map[string]verdict{nameOf(first): {accepted: true}}, written: r.group.smallest.written,
	}
	return &variant{reduction: r, entry: one, removed: places}
}
