package explore

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/skew"
)

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

// stretch is the part of the explored path on which the finding was seen, with all its states. It is nil if the finding
// was not seen on the explored path.
func (e Options) stretch(g *group) []clusters.State {
	for to := 1; to < len(e.Path); to++ {
		if nameOf(e.Path[to]) != nameOf(g.to) || nameOf(e.Path[to-1]) != nameOf(g.before) {
			continue
		}
		for from := to - 1; from >= 0; from-- {
			if nameOf(e.Path[from]) == nameOf(g.from) {
				return e.Path[from : to+1]
			}
		}
	}
	return nil
}

// isolate replaces the path of all gates with that of the finding's own gate.
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

// allowed reports whether the version skew policy allows a step.
func allowed(from, to clusters.State) bool {
	return skew.Check(from.Version, to.Version) == nil
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
