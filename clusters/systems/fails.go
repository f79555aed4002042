package systems

import (
	"context"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// UnmetError says that a system that was to fail did not, or failed in another way: a verdict on the system, and not trouble with the cluster.
type UnmetError struct {
	// Wanted is the text that its last lines were to have.
	Wanted string
	cause  error
}

func (e *UnmetError) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("it serves, but was to fail with %q", e.Wanted)
	}
	return fmt.Sprintf("it was to fail with %q: %v", e.Wanted, e.cause)
}

func (e *UnmetError) Unwrap() error { return e.cause }

// fails returns nil once a process has ended by itself with a text in its last lines. One that serves instead is stopped.
func fails(ctx context.Context, process *processes.Process, look func(context.Context) error, wanted string) error {
	err := await(ctx, process, look)
	select {
	case <-process.Done():
		if cause := process.Failure(); !strings.Contains(cause.Error(), wanted) {
			return &UnmetError{Wanted: wanted, cause: cause}
		}
		return nil
	default:
	}
	stopped := process.Stop(context.WithoutCancel(ctx), stopGrace)
	switch {
	case err != nil:
		return fmt.Errorf("wait until its process fails: %w", err)
	case stopped != nil:
		return stopped
	}
	return &UnmetError{Wanted: wanted}
}
