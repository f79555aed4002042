package assertions

import (
	"context"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/harness/history"
)

// lastLookWithin is how long the API server may take to answer the last question, after the time of Eventually is up.
// It is longer than the delays of a busy machine, since without an answer there is no verdict.
const lastLookWithin = 10 * time.Second

// Eventually returns when the assertion is true of a state that is not older than the call, or when its time is up.
// The time counts from Started: if nothing is left of it, a look decides.
// Only a last consistent look decides that it is not true, when the time is up or when nothing that can still happen
// would make it true. Without that look the result is an error, never a failure. A condition that is true only
// because there was no object to check is not true yet.
func Eventually(ctx context.Context, in Input) Result {
	return newWatcher(in, "eventually").eventually(ctx)
}

func (w *watcher) eventually(ctx context.Context) Result {
	within := w.Assertion.Within.Or(w.Timeout)
	left := within - w.Spent
	limited, cancel := w.limited(ctx, left)
	defer cancel()
	if err := w.firstLook(ctx, left); err != nil {
		return w.couldNotLook(ctx, err)
	}
	w.began = w.Clock.Now()
	if w.trueNow() {
		return w.held(time.Time{})
	}
	var decisive history.Change
	holds := func(change history.Change) bool {
		decisive = change
		return w.trueNow()
	}
	decided := func(change history.Change) bool { return holds(change) || w.hopeless() != "" }
	for limited.Err() == nil && (w.hopeless() != "" || w.until(limited, decided)) {
		if w.trueNow() {
			return w.held(decisive.At)
		}
		// Nothing that can still happen would make it true, if the known state is current.
		switch done, err := w.lastLook(ctx, lastLookWithin, holds); {
		case done:
			return w.held(decisive.At)
		case err != nil:
			return w.couldNotLook(ctx, err)
		}
		if why := w.hopeless(); why != "" {
			return w.failed(ctx, why, nil)
		}
	}
	switch done, err := w.lastLook(ctx, lastLookWithin, holds); {
	case done:
		return w.held(decisive.At)
	case err != nil:
		return w.couldNotLook(ctx, err)
	case w.surely(true):
		return w.failed(ctx, w.vacuity(), nil)
	default:
		return w.failed(ctx, fmt.Sprintf("It did not become true within %s.", within), nil)
	}
}

// firstLook looks for as long as there is time, but for no less than a last look.
func (w *watcher) firstLook(ctx context.Context, left time.Duration) error {
	limited, cancel := w.limited(ctx, max(left, lastLookWithin))
	defer cancel()
	return w.look(limited)
}

// trueNow reports whether the assertion is true, of an object or as a statement that there is none.
func (w *watcher) trueNow() bool { return w.surely(true) && !w.vacuous() }
