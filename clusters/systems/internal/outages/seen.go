package outages

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
)

// restarter is a cluster that knows the processes of its API servers.
type restarter interface {
	APIServers() map[string]int
}

// Seen finds out when API servers were restarted.
type Seen struct {
	// last describes the API servers at the last look; "" before the first.
	last string
}

// Happened reports whether an API server was restarted since the last look. Where the processes are not known, a change
// of the cluster's state counts.
func (s *Seen) Happened(cluster clusters.Cluster) bool {
	state := cluster.State()
	state.Systems = nil
	now := "state " + state.String()
	if known, ok := cluster.(restarter); ok {
		now = fmt.Sprint("processes ", known.APIServers())
	}
	before := s.last
	s.last = now
	return before != "" && before != now
}
