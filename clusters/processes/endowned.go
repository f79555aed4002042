package processes

import (
	"context"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

const (
	// endTimeout is how long killed processes may take to end: far more than they need on a busy machine.
	endTimeout = 10 * time.Second
	// endPoll is the time between two looks.
	endPoll = 10 * time.Millisecond
)

// EndOwned kills every process that was started for owner. It returns when none is left: until then they may still
// write files.
func EndOwned(owner string, recorded ...int) error {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	return untilNone(ctx, func() (int, error) { return killOwned(owner, recorded...) })
}

// untilNone repeats kill, which returns how many processes it found, until it finds none.
func untilNone(ctx context.Context, kill func() (int, error)) error {
	for {
		n, err := kill()
		if n == 0 || err != nil {
			return err
		}
		if !pauses.For(ctx, endPoll) {
			return fmt.Errorf("wait for the end of %d killed processes: %w", n, ctx.Err())
		}
	}
}
