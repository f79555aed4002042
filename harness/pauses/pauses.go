// Package pauses waits between attempts, longer each time.
package pauses

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Growing returns pauses that grow from first to most, and never end.
func Growing(first, most time.Duration) backoff.BackOff {
	return backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(first), backoff.WithMaxInterval(most), backoff.WithMaxElapsedTime(0))
}

// Wait waits before the next try. It returns false if the context ended.
func Wait(ctx context.Context, pauses backoff.BackOff) bool {
	timer := time.NewTimer(pauses.NextBackOff())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
