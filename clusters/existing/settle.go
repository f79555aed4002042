package existing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
)

// patience is how long to wait for the cluster after a transition command has ended.
type patience struct {
	// most is the timeout; still is the timeout without a change of the cluster's answer, 0 for none.
	most, still time.Duration
	// pause is the time between two checks.
	pause time.Duration
}

// patienceFor returns the patience for the user's timeout; 0 means the default.
func patienceFor(timeout time.Duration) patience {
	if timeout > 0 {
		return patience{most: timeout, pause: 200 * time.Millisecond}
	}
	return patience{most: 5 * time.Minute, still: time.Minute, pause: 200 * time.Millisecond}
}

// settle waits until the cluster reports that it is in the state, and returns the last error on a timeout.
func (c *Cluster) settle(ctx context.Context, state clusters.State) error {
	limited, cancel := context.WithTimeout(ctx, c.provider.most)
	defer cancel()
	return c.settleWithin(ctx, limited, state)
}

// settleWithin is settle with the context that ends at the timeout.
func (c *Cluster) settleWithin(ctx, limited context.Context, state clusters.State) error {
	p := c.provider.patience
	// The rest of the state cannot be checked on an existing cluster; the command is trusted.
	visible := clusters.State{Version: state.Version, FeatureGates: state.Gates(clusters.APIServer)}
	const advice = "let the command wait until the cluster is in the new state, or set a longer --transition-timeout"
	var last error
	var since time.Time
	var answered differsError
	for {
		err := c.provider.at(limited, visible)
		switch {
		case err == nil:
			return nil
		case limited.Err() != nil && ctx.Err() == nil:
			if last != nil { // err may only say that the time is up
				err = last
			}
			return fmt.Errorf("%s after the command exited:  %w; %s", p.most, err, advice)
		case last == nil || err.Error() != last.Error() || !errors.As(err, &answered):
			// A cluster that does not answer may be restarting.
			last, since = err, time.Now()
		case p.still > 0 && time.Since(since) >= p.still:
			return fmt.Errorf("%s after the command exited, without a change:  %w; %s", p.still, err, advice)
		}
		select {
		case <-ctx.Done():
			return err
		case <-limited.Done():
		case <-time.After(p.pause):
		}
	}
}
