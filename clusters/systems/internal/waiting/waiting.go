// Package waiting repeats checks until they succeed.
package waiting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/forwarding"
	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

const (
	// interval is the time between two checks, timeout that of one check.
	interval = 20 * time.Millisecond
	timeout  = 5 * time.Second
)

// Once makes a check once.
func Once(ctx context.Context, look func(context.Context) error) error {
	attempt, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return look(attempt)
}

// Until repeats a check until it succeeds, the process (if any) ends, or the context ends.
func Until(ctx context.Context, process *processes.Process, look func(context.Context) error) error {
	ended := make(<-chan struct{})
	if process != nil {
		ended = process.Done()
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	last := errors.New("there was no time for a check")
	for {
		err := Once(ctx, look)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ended:
			return process.Failure()
		case <-ctx.Done():
			return fmt.Errorf("%w; last error: %w", context.Cause(ctx), last)
		case <-ticker.C:
		}
	}
}

// Holds reports whether a check succeeds. Like a kubelet, it believes only several failures, with a pause between them.
func Holds(ctx context.Context, look func(context.Context) error) bool {
	for i := range forwarding.MostFailures {
		if i > 0 && !pauses.For(ctx, forwarding.ProbePeriod) {
			return false
		}
		if Once(ctx, look) == nil {
			return true
		}
	}
	return false
}

// Share returns a context with one of n equal parts of the time that is left.
func Share(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	deadline, limited := ctx.Deadline()
	if !limited {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(n))
}
