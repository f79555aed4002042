package explore

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
)

// reduction is the search for the smallest object of one finding. Each round tries candidates, and variants of each
// candidate that lack a further part. If the parts are single places, a round can show that a candidate is the
// smallest.
type reduction struct {
	group *group
	// base is an object that shows the finding; nil before the first round. working are parts that can each be removed
	// from it.
	base    *entry
	working [][]fields.Place
	// parts is the maximum number of parts of a candidate. If a candidate has more places, its parts have several
	// places.
	parts int
	// candidates of this round, and their variants.
	candidates []*entry
	variants   []*variant
	done       bool
}

// variant is an object that lacks a part of a candidate.
type variant struct {
	*entry
	of      *entry
	removed []fields.Place
}

// firstParts is the maximum number of parts in the first round.
const firstParts = 24

// vary makes the candidates of a round and their variants.
func (r *reduction) vary(first clusters.State) {
	r.parts = max(r.parts, firstParts)
	smallest := r.group.smallest
	r.candidates, r.variants = nil, nil
	known := map[string]*entry{string(smallest.Body): smallest}
	same := func(one *entry) *entry { // equal objects cross once
		if known[string(one.Body)] == nil {
			known[string(one.Body)] = one
		}
		return known[string(one.Body)]
	}
	for _, one := range r.next(first) {
		if one == nil || slices.Contains(r.candidates, same(one)) {
			continue
		}
		one = same(one)
		r.candidates = append(r.candidates, one)
		for _, part := range split(removable(one), r.parts) {
			if smaller := without(first, one, part...); smaller != nil {
				r.variants = append(r.variants, &variant{entry: same(smaller), of: one, removed: part})
			}
		}
	}
}

// next are the candidates of the next round. The first round guesses that a finding needs only the fields in its
// message, and perhaps the field for which its object was generated. Later rounds remove all the parts that can each be
// removed alone, or half of them.
func (r *reduction) next(first clusters.State) []*entry {
	smallest := r.group.smallest
	switch {
	case r.base == nil:
		words := mentioned(r.group.finding.Words, smallest.Object())
		field := places(smallest.Object(), smallest.Field)
		return []*entry{smallest, r.keeping(first, words), r.keeping(first, append(field, words...))}
	case len(r.working) == 0:
		return []*entry{smallest}
	}
	n := len(r.working)
	var all []*entry
	for _, parts := range [][][]fields.Place{r.working, r.working[:n/2], r.working[n/2:]} {
		all = append(all, without(first, r.base, slices.Concat(parts...)...))
	}
	return all
}

// split splits places into parts of about the same size.
func split(all []fields.Place, parts int) [][]fields.Place {
	return slices.Collect(slices.Chunk(all, max(1, (len(all)+parts-1)/parts)))
}

// entries are the objects that must cross: the smallest object so far is known to show the finding.
func (r *reduction) entries() []*entry {
	var all []*entry
	add := func(one *entry) {
		if one != r.group.smallest && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	for _, one := range r.candidates {
		add(one)
	}
	for _, v := range r.variants {
		add(v.entry)
	}
	return all
}

// learn uses what a round showed.
func (r *reduction) learn(crossed func(*entry) bool) {
	before := r.group.smallest
	shows := func(one *entry) bool { return one == before || crossed(one) }
	var best *entry
	for _, one := range r.candidates {
		if shows(one) && (best == nil || len(one.Body) < len(best.Body)) {
			best = one
		}
	}
	smallest := before
	if best != nil && len(best.Body) < len(before.Body) {
		smallest = best
	}
	r.working = nil
	coarse, other := false, false
	for _, v := range r.variants {
		coarse = coarse || v.of == best && len(v.removed) > 1
		if !shows(v.entry) {
			continue
		}
		if len(v.Body) < len(smallest.Body) {
			smallest, other = v.entry, v.of != best
		}
		if v.of == best {
			r.working = append(r.working, v.removed)
		}
	}
	switch {
	case best == nil, other: // try the parts of the smallest variant, whose candidate does not show the finding
		r.base, r.working = smallest, nil
	case len(r.working) > 0:
		r.base = best
	case coarse:
		r.base, r.parts = best, 4*r.parts
	default:
		r.done = true
	}
	r.group.smallest = smallest
}

// removable are the places of an object that may be removed: fields that the schema does not require, and list items.
func removable(one *entry) []fields.Place {
	var all []fields.Place
	seen := map[string]bool{}
	for _, leaf := range growth.Places(one.Object()) {
		for n := 1; n <= len(leaf); n++ {
			place := leaf[:n:n]
			if !seen[place.String()] && place.String() != "metadata" && optional(one, place) {
				all = append(all, place)
			}
			seen[place.String()] = true
		}
	}
	return all
}

// optional reports whether the schema allows an object without a place.
func optional(one *entry, place fields.Place) bool {
	f := one.Kind.Root.At(place)
	if f == nil || !f.Required {
		return f != nil
	}
	if _, item := place[len(place)-1].(int); !item {
		return false
	}
	list, _ := fields.Get(one.Object(), place[:len(place)-1])
	items, _ := list.([]any)
	return len(items) > 1
}

// without is an object without some places; nil if it has none of them, or would affect other objects.
func without(first clusters.State, from *entry, places ...fields.Place) *entry {
	object := from.Object()
	removed := false
	for _, place := range slices.Backward(places) { // later list items first: removing one renumbers those after it
		removed = fields.Remove(object, place) || removed
	}
	if !removed {
		return nil
	}
	return variantOf(first, from, object, fmt.Sprint(" without ", places))
}

// keeping is the smallest object so far with only those of its optional fields that contain a needed place, or are
// below it; nil if nothing can be removed.
func (r *reduction) keeping(first clusters.State, needed []fields.Place) *entry {
	var removed []fields.Place
	for _, place := range removable(r.group.smallest) {
		if !slices.ContainsFunc(needed, func(n fields.Place) bool { return n.Within(place) || place.Within(n) }) {
			removed = append(removed, place)
		}
	}
	return without(first, r.group.smallest, removed...)
}

// variantOf is a smaller variant of an object; nil if it would affect other objects.
func variantOf(first clusters.State, from *entry, object map[string]any, how string) *entry {
	if !growth.Harmless(from.Kind, object) {
		return nil
	}
	specimen := *from.Specimen
	specimen.Body = growth.Text(object)
	specimen.Value += how
	return &entry{
		Specimen: &specimen, verdicts: map[string]verdict{nameOf(first): {accepted: true}}, written: from.written,
	}
}
