package existing

import (
	"context"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
)

// patience is how long the cluster is waited for after a transition command has ended.
type patience struct {
	// most is how long in all; still is how long its answer may stay the same meanwhile, 0 for as long as it likes.
	most, still time.Duration
	// pause is between two looks.
	pause time.Duration
}

// patienceFor is the patience that the user asks for; 0 for the default.
func patienceFor(timeout time.Duration) patience {
	if timeout > 0 {
		return patience{most: timeout, pause: 200 * time.Millisecond}
	}
	return patience{most: 5 * time.Minute, still: time.Minute, pause: 200 * time.Millisecond}
}

// settle returns when the cluster says that it is in the state, or the reason why it is not waited for any longer.
func (c *Cluster) settle(ctx context.Context, state clusters.State) error {
	p := c.provider.patience
	limited, cancel := context.WithTimeout(ctx, p.most)
	defer cancel()
	// What an existing cluster does not tell is the command's word.
	visible := clusters.State{Version: state.Version, FeatureGates: state.FeatureGates}
	const advice = "let the command wait until the cluster is in the new state, or set a longer --transition-timeout"
	var last string
	var since time.Time
	for {
		err := c.provider.at(limited, visible)
		switch {
		case err == nil:
			return nil
		case limited.Err() != nil && ctx.Err() == nil:
			return fmt.Errorf("%s after the command exited:  %w; %s", p.most, err, advice)
		case err.Error() != last:
			last, since = err.Error(), time.Now()
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
