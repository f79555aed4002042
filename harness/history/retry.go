package history

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

// retry paces attempts: the first at once, then after 5 ms, growing to 250 ms, with jitter, for ever.
type retry struct{ pauses backoff.BackOff }

// reset makes the next attempt a first one.
func (r *retry) reset() { r.pauses = nil }

// next waits until the next attempt is due. It returns false if the context has ended.
func (r *retry) next(ctx context.Context) bool {
	switch {
	case ctx.Err() != nil:
		return false
	case r.pauses == nil:
		r.pauses = pauses.Growing(5*time.Millisecond, 250*time.Millisecond)
		return true
	}
	return pauses.Wait(ctx, r.pauses)
}
