// Package pauses waits between attempts. It is for loops that decide after each attempt whether to continue. Where an
// operation is repeated until it succeeds, backoff.Retry does that, and where a plain condition is checked again and
// again, apimachinery's wait.PollUntilContextCancel. Two places have a function of their own, because they also notice
// the end of a process, or report progress: clusters/systems and clusters/kind/internal/waiting.
package pauses

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Growing returns pauses that grow from first to most, with jitter, and never end.
func Growing(first, most time.Duration) backoff.BackOff {
	return backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(first), backoff.WithMaxInterval(most), backoff.WithMaxElapsedTime(0))
}

// Wait waits before the next attempt. It returns false if the context ended.
func Wait(ctx context.Context, pauses backoff.BackOff) bool { return For(ctx, pauses.NextBackOff()) }

// For waits for a while. It returns false if the context ended.
func For(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
