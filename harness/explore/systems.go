package explore

import (
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
)

// WithSystems is a path on which systems run from the first state on. They are upgraded at the newest version of
// Kubernetes, and rolled back before the path continues. A path that ends at its newest version ends with the upgraded
// systems. A path of a single state returns to it.
func WithSystems(path []clusters.State, first, upgraded []clusters.System) []clusters.State {
	path = slices.Clone(path)
	for i := range path {
		path[i].Systems = append(slices.Clone(path[i].Systems), first...)
	}
	if len(upgraded) == 0 {
		return path
	}
	peak := peakOf(path)
	after := path[peak]
	after.Systems = slices.Clone(after.Systems)
	for i, system := range after.Systems {
		if at := slices.IndexFunc(upgraded, func(s clusters.System) bool { return s.Name == system.Name }); at >= 0 {
			after.Systems[i] = upgraded[at]
		}
	}
	way := append(slices.Clone(path[:peak+1]), after)
	if peak+1 < len(path) || peak == 0 {
		way = append(way, path[peak])
	}
	return append(way, path[peak+1:]...)
}

// peakOf is the first state of the newest version.
func peakOf(path []clusters.State) int {
	peak := 0
	for i, state := range path {
		newest, err1 := clusters.ParseVersion(path[peak].Version)
		version, err2 := clusters.ParseVersion(state.Version)
		if err1 == nil && err2 == nil && version.Compare(newest) > 0 {
			peak = i
		}
	}
	return peak
}
