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

// outages finds out when Kubernetes changed.
type outages struct {
	// reached is the cluster's state, without systems, at the last look; "" before the first.
	reached string
}

// happened reports whether Kubernetes changed since the last look.
func (o *outages) happened(state clusters.State) bool {
	state.Systems = nil
	before := o.reached
	o.reached = "state " + state.String()
	return before != "" && before != o.reached
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
