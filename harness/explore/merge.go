package explore

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// merged joins findings that turned out to have one cause, although other checks may fail. A finding of objects that
// controllers created becomes part of the finding of the object that a user wrote.
func merged(all []*group) []*group {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *group) int { return cmp.Compare(rank(a.dependents()), rank(b.dependents())) })
	var kept []*group
	for _, g := range all {
		if at := slices.IndexFunc(kept, g.alike); at >= 0 {
			kept[at].join(g)
		} else {
			kept = append(kept, g)
		}
	}
	return kept
}

// alike reports whether two findings have the same cause, and depend on the same gate or have the same object.
func (g *group) alike(other *group) bool {
	return g.smallest != nil && other.smallest != nil && other.sort == g.sort && hopsOf(other.path) == hopsOf(g.path) &&
		other.cause() == g.cause() && (other.gate == g.gate || bytes.Equal(other.smallest.Body, g.smallest.Body))
}

// cause is the part of the key that says why something fails.
func (g *group) cause() string { return strings.Join(strings.SplitN(g.key, "|", 5)[3:], "|") }

// dependents reports whether a finding is only about objects of controllers.
func (g *group) dependents() bool {
	own := slices.ContainsFunc(g.kinds, func(kind string) bool { return !strings.Contains(kind, " of ") })
	return g.smallest != nil && !own
}

// join makes another finding a part of this one.
func (g *group) join(other *group) {
	g.entries = append(g.entries, other.entries...)
	if other.key == g.key && len(other.smallest.Body) < len(g.smallest.Body) {
		g.smallest, g.finding = other.smallest, other.finding
	}
	gates := strings.Split(other.gate, ",")
	g.gate = strings.Join(slices.DeleteFunc(strings.Split(g.gate, ","), func(gate string) bool {
		return !slices.Contains(gates, gate)
	}), ",")
	for _, kind := range other.kinds {
		if !slices.Contains(g.kinds, kind) {
			g.kinds = append(g.kinds, kind)
		}
	}
}
