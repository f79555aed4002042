package record

import (
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Hold records that a transition to a state stopped before some of the cluster's control planes.
func (r *Record) Hold(state clusters.State, behind []int) error {
	return r.change(func(now *content) {
		versions := make([]string, state.NumberOfControlPlanes())
		for plane := range versions {
			versions[plane] = state.Version
			if slices.Contains(behind, plane) {
				versions[plane] = r.version(plane)
			}
		}
		// Parts of the cluster still have the old version: also kubelets, if all API servers have changed.
		if before := now.State.Version; before != state.Version {
			now.Towards = before
		}
		now.State, now.Versions, now.Behind = state, versions, behind
	})
}

// Server returns the version of a control plane's API server, and whether the last transition stopped before it.
func (r *Record) Server(plane int) (version string, behind bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version(plane), slices.Contains(r.now.Behind, plane)
}

// Killed records the control planes whose API servers are down.
func (r *Record) Killed(planes []int) error {
	return r.change(func(now *content) { now.Down = planes })
}

// IsDown reports whether a control plane's API server was killed.
func (r *Record) IsDown(plane int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.now.Down, plane)
}

func (r *Record) version(plane int) string {
	if plane < len(r.now.Versions) {
		return r.now.Versions[plane]
	}
	return r.now.State.Version
}
