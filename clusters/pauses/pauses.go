// Package pauses waits between attempts. It is for loops that decide after each attempt whether to continue. Where a
// plain condition is checked again and again, apimachinery's wait.PollUntilContextCancel does that. Two places have a
// function of their own, because they also notice the end of a process, or report progress: clusters/systems and
// clusters/kind/internal/waiting.
package pauses

import (
	"context"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Growing returns pauses that grow from first to most, and never end.
func Growing(first, most time.Duration) *wait.Backoff {
	return &wait.Backoff{Duration: first, Cap: most, Factor: 1.5, Jitter: 0.5, Steps: math.MaxInt}
}

// Wait waits before the next attempt. It returns false if the context ended.
func Wait(ctx context.Context, pauses *wait.Backoff) bool { return For(ctx, pauses.Step()) }

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
