package explore

import (
	"bytes"
	"slices"
	"strings"
)

// merged joins findings that turned out to be one. What objects of controllers show is part of the finding of the
// object that a user wrote, if that fails for the same cause.
func merged(all []*group) []*group {
	var kept []*group
	for _, g := range all {
		if at := slices.IndexFunc(kept, g.alike); at >= 0 {
			kept[at].join(g)
		} else {
			kept = append(kept, g)
		}
	}
	var last []*group
	for _, g := range kept {
		if at := slices.IndexFunc(kept, g.caused); at >= 0 {
			kept[at].join(g)
		} else {
			last = append(last, g)
		}
	}
	return last
}

// alike says whether two findings fail alike, and depend on the same gate or have the same object.
func (g *group) alike(other *group) bool {
	return g.smallest != nil && other.smallest != nil && other.key == g.key && hopsOf(other.path) == hopsOf(g.path) &&
		(other.gate == g.gate || bytes.Equal(other.smallest.Body, g.smallest.Body))
}

// caused says whether a finding about objects of controllers has the cause of another finding, although other checks
// may fail.
func (g *group) caused(other *group) bool {
	cause := func(g *group) string { return strings.Join(strings.Split(g.key, "|")[3:], "|") }
	return g.dependents() && !other.dependents() && other.smallest != nil && other.sort == g.sort &&
		other.gate == g.gate && hopsOf(other.path) == hopsOf(g.path) && cause(other) == cause(g)
}

// dependents says whether a finding is only about objects of controllers.
func (g *group) dependents() bool {
	own := slices.ContainsFunc(g.kinds, func(kind string) bool { return !strings.Contains(kind, " of ") })
	return g.smallest != nil && !own
}

// join makes another finding a part of this one.
func (g *group) join(other *group) {
	g.entries = append(g.entries, other.entries...)
	if !other.dependents() && len(other.smallest.Body) < len(g.smallest.Body) {
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
