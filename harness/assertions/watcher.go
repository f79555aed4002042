package assertions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/harness/history"
)

// errTimeUp is the cause of a context that ended by our clock.
var errTimeUp = errors.New("the time is up")

// watcher follows the states of the selected objects one after the other.
type watcher struct {
	timing
	explainer
	// seq is the number of the last change that the judge knows of.
	seq int64
}

func newWatcher(in Input, verb string) *watcher {
	in = in.withDefaults()
	w := &watcher{timing: timing{Input: in}, explainer: explainer{judge: newJudge(in), verb: verb}}
	w.strict = w.usesAll && forbids(verb, in.Assertion)
	w.excludes = excludesMatches(verb, in.Assertion)
	w.asksOfNone = w.usesAll && !w.usesEach && len(in.Assertion.Match) == 0 && in.Assertion.Count == nil &&
		(verb == "never" || in.Assertion.Absent)
	if verb == "eventually" && in.Scope.Name != "" {
		w.pin = pinOf(in)
	}
	w.current = verb == "eventually" && needsCurrentStatus(in.Assertion)
	return w
}

// limited returns a context that ends after a time by our clock, with errTimeUp as its cause.
func (w *timing) limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return limitedBy(ctx, w.Clock, d)
}

func limitedBy(ctx context.Context, c clock.WithDelayedExecution, d time.Duration) (context.Context,
	context.CancelFunc,
) {
	ctx, cancel := context.WithCancelCause(ctx)
	if d <= 0 {
		cancel(errTimeUp)
	}
	timer := c.AfterFunc(d, func() { cancel(errTimeUp) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// look takes the first look, at a state that is not older than the call.
func (w *watcher) look(ctx context.Context) error {
	if err := w.Stream.CatchUp(ctx, w.Scope); err != nil {
		return err
	}
	w.restart()
	return nil
}

func (w *watcher) restart() {
	view := w.Stream.View(w.Scope)
	w.begin(view)
	w.seq = view.Seq
}

// follow calls the function with each change since the last call, after the judge has applied it, until the function
// returns true. It returns a channel that is closed when there may be more.
func (w *watcher) follow(enough func(history.Change) bool) (done bool, more <-chan struct{}) {
	changes, upTo, more := w.Stream.Since(w.seq, w.Scope)
	for _, change := range changes {
		if !w.apply(change) {
			// The state after it is lost, and with it the base of the changes that follow.
			w.skipped++
			w.restart()
			return enough(change), w.closed()
		}
		if !change.More && enough(change) {
			w.seq = change.Seq
			return true, more
		}
	}
	w.seq = upTo
	return false, more
}

func (*watcher) closed() <-chan struct{} {
	now := make(chan struct{})
	close(now)
	return now
}

// until follows changes until the function returns true, or the context ends.
func (w *watcher) until(ctx context.Context, enough func(history.Change) bool) bool {
	for {
		done, more := w.follow(enough)
		if done {
			return true
		}
		select {
		case <-more:
		case <-ctx.Done():
			return false
		}
	}
}

// lastLook judges everything that happened up to now, when the time is up: the watch may be late, or not connected.
func (w *watcher) lastLook(ctx context.Context, within time.Duration, enough func(history.Change) bool) (done bool,
	err error,
) {
	ctx, cancel := w.limited(ctx, within)
	defer cancel()
	if err := w.Stream.CatchUp(ctx, w.Scope); err != nil {
		done, _ = w.follow(enough)
		return done, err
	}
	done, _ = w.follow(enough)
	return done, nil
}

// since writes a moment as the time since the start of the step: +1.5s.
func (w *timing) since(at time.Time) string {
	d := at.Sub(w.Started).Round(time.Millisecond)
	if d < 0 {
		return d.String()
	}
	return fmt.Sprintf("+%s", d)
}
