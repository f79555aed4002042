// Package waiting polls until a condition holds.
package waiting

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

const (
	// lookInterval is the time between two checks.
	lookInterval = 200 * time.Millisecond
	// patience is the timeout of one wait: far more than it takes on a busy machine.
	patience = 5 * time.Minute
	// tellAfter is when progress is first reported, and tellEvery how often after that.
	tellAfter = 3 * time.Second
	tellEvery = 5 * time.Second
)

// errLate is the cause if a wait reaches this timeout.
var errLate = errors.New("not within " + patience.String())

// LateError reports that a wait reached its timeout.
type LateError struct {
	What string
	Last error
}

func (e *LateError) Error() string {
	return fmt.Sprintf("%s: not reached after %s: %v", e.What, patience, e.Last)
}

// Unwrap returns the last error of the check.
func (e *LateError) Unwrap() error { return e.Last }

// finalError is an error that waiting longer does not fix.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }

// Final returns an error that ends a wait at once.
func Final(err error) error { return &finalError{err} }

// Until repeats a check until it returns nil. If that takes long, it reports what it waits for, and the last error.
// It returns a final error at once, and a *LateError after its timeout.
func Until(ctx context.Context, tell clusters.Progress, what string, look func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errLate)
	defer cancel()
	toTell, told := time.Now().Add(tellAfter), ""
	var last error
	for {
		err := look(ctx)
		if err == nil {
			return nil
		}
		var final *finalError
		if errors.As(err, &final) {
			return final.err
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		if text := brief(err); time.Now().After(toTell) && text != told && ctx.Err() == nil {
			tell("waiting for %s: %s", what, text)
			toTell, told = time.Now().Add(tellEvery), text
		}
		if !pauses.For(ctx, lookInterval) {
			return ended(ctx, what, last)
		}
	}
}

// ended returns why a wait ended without success.
func ended(ctx context.Context, what string, last error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errLate):
		return &LateError{what, last}
	case errors.Is(cause, context.DeadlineExceeded):
		return fmt.Errorf("%s: not reached before the timeout: %w", what, last)
	default:
		return fmt.Errorf("wait for %s: %w", what, cause)
	}
}

var failedCheck = regexp.MustCompile(`\[-\](\S+) failed`)

// brief returns an error as one short line. Of an API server's long list of checks it keeps only those that failed.
func brief(err error) string {
	text := err.Error()
	var checks []string
	for _, m := range failedCheck.FindAllStringSubmatch(text, -1) {
		checks = append(checks, m[1])
	}
	if len(checks) > 0 {
		return "not ready yet: " + strings.Join(checks, ", ")
	}
	text, _, _ = strings.Cut(text, "\n")
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "..."
	}
	return text
}
