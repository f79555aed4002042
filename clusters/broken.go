package clusters

import (
	"errors"
	"os/exec"
	"syscall"
)

// BrokenError reports a component that is not in the desired state: it exited unexpectedly, or did not become ready
// within far more time than it needs.
type BrokenError struct {
	// Component that is the cause, not one that only waits for another. It may be a system (SystemComponent).
	Component Component
	// Words are the component's own: the last answer of its readiness check, and the end of its log.
	Words string
	// Err is the message for the user.
	Err error
}

// SystemComponent returns the component name of a system that is a process.
func SystemComponent(name string) Component { return Component("system " + name) }

func (e *BrokenError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *BrokenError) Unwrap() error { return e.Err }

// Breakage splits an error of Converge into its broken components and all other errors.
func Breakage(err error) (broken []*BrokenError, other []error) {
	switch err := err.(type) { //nolint:errorlint // it is taken apart here
	case nil:
		return nil, nil
	case *BrokenError:
		return []*BrokenError{err}, nil
	case interface{ Unwrap() []error }:
		for _, part := range err.Unwrap() {
			b, o := Breakage(part)
			broken, other = append(broken, b...), append(other, o...)
		}
		return broken, other
	case interface{ Unwrap() error }:
		if inner := err.Unwrap(); inner != nil {
			if broken, other = Breakage(inner); len(broken) > 0 {
				return broken, other
			}
		}
	}
	return nil, []error{err}
}

// Killed reports whether an error is about a process that was killed with SIGKILL. If Rehearse did not do it, the
// kernel did, most likely because the machine has too little memory: this says nothing about the program.
func Killed(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
