package systems

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
)

// mostOutages is how many restarts of the API server a program may live through. client-go doubles the delay of its
// watches with each of them, and forgets that only after two quiet minutes. Transitions of a rehearsal follow each
// other within seconds: after the fourth a program notices changes about eight seconds late, after the sixth about
// forty. A restart takes up to 16 seconds: a program that does not release its lease waits for it.
const mostOutages = 5

// restarter is a cluster that knows the processes of its API servers.
type restarter interface {
	APIServers() map[string]int
}

// outages finds out when API servers were restarted.
type outages struct {
	// last describes the API servers at the last look; "" before the first.
	last string
}

// happened reports whether an API server was restarted since the last look. Where the processes are not known, a change
// of the cluster's state counts.
func (o *outages) happened(cluster clusters.Cluster) bool {
	state := cluster.State()
	state.Systems = nil
	now := "state " + state.String()
	if known, ok := cluster.(restarter); ok {
		now = fmt.Sprint("processes ", known.APIServers())
	}
	before := o.last
	o.last = now
	return before != "" && before != now
}

// refresh ends a program that lived through too many outages, as the drain of its node would do. The watches of its
// successor have no delay.
func refresh(ctx context.Context, sys *system, progress clusters.Progress) error {
	if sys.outages < mostOutages {
		return nil
	}
	progress("restarting system %s: after %d restarts of the API server its watches would be late",
		sys.definition.Name, sys.outages)
	if err := sys.process.Stop(ctx, stopGrace); err != nil {
		return fmt.Errorf("restart it: %w", err)
	}
	return nil
}
