package assertions

import (
	"context"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/harness/history"
)

// Always returns when the assertion has been true of every state for its time, or as soon as it is false of one. Its
// time begins with a first consistent look and ends with the first consistent look after it. If either is impossible,
// the result is an error. The message reports what could not be observed in between. With a Window, that is its time,
// and the result is there at once.
func Always(ctx context.Context, in Input) Result { return throughout(ctx, in, "always", true) }

// Never returns when the assertion has been true of no state for its time, or as soon as it is true of one. Its time
// is that of Always.
func Never(ctx context.Context, in Input) Result { return throughout(ctx, in, "never", false) }

func throughout(ctx context.Context, in Input, verb string, wanted bool) Result {
	w := newWatcher(in, verb)
	if w.Window != nil {
		return w.overWindow(ctx, wanted)
	}
	first, cancelFirst := w.limited(ctx, w.Timeout)
	defer cancelFirst()
	if err := w.look(first); err != nil {
		return w.couldNotLook(ctx, err)
	}
	length := time.Duration(w.Assertion.For)
	window, cancel := w.limited(ctx, length)
	defer cancel()
	w.began = w.Clock.Now() // after the limit is set, since a test advances the clock from here
	if !w.surely(wanted) {
		return w.failed(ctx, violation(wanted)+" at the first check.", nil)
	}
	var decisive history.Change
	violated := func(change history.Change) bool {
		decisive = change
		return !w.surely(wanted)
	}
	if !w.until(window, violated) {
		switch done, err := w.lastLook(ctx, w.Timeout, violated); {
		case done:
		case err != nil:
			return w.couldNotLook(ctx, err)
		default:
			return w.heldThroughout(wanted, length)
		}
	}
	into := decisive.At.Sub(w.began).Round(time.Millisecond)
	return w.failed(ctx, fmt.Sprintf("%s at %s (%s into %s), when %s was %s%s.", violation(wanted), w.since(decisive.At),
		into, length,
		decisive.Name, decisive.Type, found(decisive)), &decisive)
}

func violation(wanted bool) string {
	if wanted {
		return "It was false"
	}
	return "It was true"
}

func found(change history.Change) string {
	if change.Relisted {
		return ", as a list found"
	}
	return ""
}
