package systems

import (
	"context"
	"time"
)

// lookForExits is how often WhileRunning looks whether a program has exited.
const lookForExits = time.Second

// WhileRunning returns a context that ends as soon as a program has exited: requests to what is left would be retried
// in vain. exited returns how it has exited; nil if all programs run.
func WhileRunning(ctx context.Context, exited func() error) (context.Context, context.CancelFunc) {
	return whileRunning(ctx, exited, lookForExits)
}

func whileRunning(ctx context.Context, exited func() error, every time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		again := time.NewTicker(every)
		defer again.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-again.C:
				if err := exited(); err != nil {
					end(err)
					return
				}
			}
		}
	}()
	return ctx, func() { end(nil) }
}
