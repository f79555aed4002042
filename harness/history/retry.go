package history

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/rehearse-dev/rehearse/harness/pauses"
)

// retry paces attempts: the first at once, then after 5 ms, growing to 250 ms, with jitter, for ever.
type retry struct {
	backoff *backoff.ExponentialBackOff
	again   bool
}

func newRetry() *retry {
	return &retry{backoff: backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(5*time.Millisecond),
		backoff.WithMaxInterval(250*time.Millisecond),
		backoff.WithMultiplier(1.6),
		backoff.WithRandomizationFactor(0.3),
		backoff.WithMaxElapsedTime(0),
	)}
}

// reset makes the next attempt a first one.
func (r *retry) reset() {
	r.again = false
	r.backoff.Reset()
}

// next waits until the next attempt is due. It returns false if the context has ended.
func (r *retry) next(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	if !r.again {
		r.again = true
		return true
	}
	return pauses.Wait(ctx, r.backoff)
}
