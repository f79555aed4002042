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
)

const (
	// lookInterval is between two looks at what is awaited.
	lookInterval = 200 * time.Millisecond
	// patience with one thing that is awaited: far more than it takes on a busy machine.
	patience = 5 * time.Minute
	// tellAfter is when a person hears what is awaited, and tellEvery when again.
	tellAfter = 3 * time.Second
	tellEvery = 5 * time.Second
)

// errLate is why a wait ends that took all the patience there is.
var errLate = errors.New("not within " + patience.String())

// LateError says that something did not come in far more time than it takes.
type LateError struct {
	What string
	Last error
}

func (e *LateError) Error() string {
	return fmt.Sprintf("%s: not reached after %s: %v", e.What, patience, e.Last)
}

// Unwrap gives what was seen last.
func (e *LateError) Unwrap() error { return e.Last }

// finalError is one that waiting longer does not mend.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }

// Final is an error that ends a wait at once.
func Final(err error) error { return &finalError{err} }

// Until repeats a look until it returns nil. Once it takes long, it reports what it is waiting for, and why that is not
// there yet; an error that is final ends it at once, and one that came for all the patience is a *lateError.
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
		select {
		case <-ctx.Done():
			return ended(ctx, what, last)
		case <-time.After(lookInterval):
		}
	}
}

// ended says why a wait ended that came to nothing.
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

// brief is an error in one short line; of an API server's long list of checks only those that failed.
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
