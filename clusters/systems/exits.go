package systems

import (
	"context"
	"time"
)

// lookForExits is how often WhileAlive looks whether a program has exited.
const lookForExits = time.Second

// WhileAlive returns a context that ends as soon as a component, a system or one of other programs has exited: requests
// to what is left would be retried in vain. exited returns how one of the others has exited; nil if all of them run.
func (h *Host) WhileAlive(ctx context.Context, exited func() error) (context.Context, context.CancelFunc) {
	return whileRunning(ctx, func() error {
		if err := exited(); err != nil {
			return err
		}
		return h.Death()
	}, lookForExits)
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
