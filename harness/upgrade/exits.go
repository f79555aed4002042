package upgrade

import (
	"context"
	"time"
)

// lookForExits is how often a survey looks whether a program has exited.
const lookForExits = time.Second

// whileRunning returns a context that ends as soon as a program has exited: a survey of what is left would be in vain.
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
