package assertions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/reports"
)

// Window is a past time: from the beginning of one step of a scenario to the end of another.
type Window struct {
	// First and Last are the titles of the steps.
	First, Last string
	// Begin and End are when they began and ended.
	Begin, End Moment
	// Steps are those that began in between, in order.
	Steps []Step
}

// Moment is a point of a history at which it had caught up with the cluster.
type Moment struct {
	// Seq is the number of the last change before it.
	Seq int64
	// At is the time.
	At time.Time
	// Err is why it could not catch up; then only the time of the moment is known.
	Err error
}

// Step is when a step began.
type Step struct {
	Title string
	// Seq is the number of the last change before it.
	Seq int64
}

// phrase names the time: `, throughout "a" to "b"`.
func (w *Window) phrase() string {
	switch {
	case w == nil:
		return ""
	case w.First == w.Last:
		return fmt.Sprintf(", throughout %q", w.First)
	default:
		return fmt.Sprintf(", throughout %q to %q", w.First, w.Last)
	}
}

// during names the step in which a change occurred.
func (w *Window) during(seq int64) string {
	if w == nil {
		return ""
	}
	return during(w.Steps, seq)
}

func during(steps []Step, seq int64) string {
	title := ""
	for _, step := range steps {
		if step.Seq < seq {
			title = step.Title
		}
	}
	if title == "" {
		return ""
	}
	return fmt.Sprintf(" during %q", title)
}

// couldNotBegin is the error of a window whose begin was not seen.
func (w *Window) couldNotBegin() error {
	return fmt.Errorf("the objects at the beginning of %q were not seen: %w", w.First, w.Begin.Err)
}

// couldNotEnd is the error of a window whose end was not seen.
func (w *Window) couldNotEnd() error {
	return fmt.Errorf("the objects at the end of %q were not seen: %w", w.Last, w.End.Err)
}

// overWindow decides about a past time, by the states that the history has of it.
func (w *watcher) overWindow(ctx context.Context, wanted bool) Result {
	if w.Window.Begin.Err != nil {
		return w.couldNotLook(ctx, w.Window.couldNotBegin())
	}
	objects, dropped := w.Stream.At(w.Window.Begin.Seq, w.scope)
	if dropped > 0 {
		return w.couldNotLook(ctx, fmt.Errorf("%d of the states at the start of %q are no longer kept in memory",
			dropped, w.Window.First))
	}
	w.begin(history.View{Objects: objects})
	w.seq, w.began = w.Window.Begin.Seq, w.Window.Begin.At
	if !w.surely(wanted) {
		w.seq = w.Window.End.Seq // later changes are worth reporting
		return w.failed(ctx, fmt.Sprintf("%s when %q began.", violation(wanted), w.Window.First), nil)
	}
	for change := range w.Stream.Replay(w.Window.Begin.Seq, w.Window.End.Seq, w.scope) {
		if ctx.Err() != nil {
			return w.couldNotLook(ctx, ctx.Err())
		}
		w.seq = change.Seq
		if !w.apply(change) {
			w.skipped++ // the judge still knows the state before
		}
		if !change.More && !w.surely(wanted) {
			if w.skipped > 0 && w.mayLack(wanted) {
				return w.couldNotLook(ctx, errors.New(wereDropped(w.skipped)))
			}
			return w.failed(ctx, fmt.Sprintf("%s at %s%s, when %s was %s%s.", violation(wanted), w.since(change.At),
				w.Window.during(change.Seq),
				change.Name, change.Type, found(change)), &change)
		}
	}
	w.seq = w.Window.End.Seq
	if w.Window.End.Err != nil {
		return w.couldNotLook(ctx, w.Window.couldNotEnd())
	}
	return w.heldThroughout(wanted, w.Window.End.At.Sub(w.Window.Begin.At).Round(time.Millisecond))
}

// mayLack reports whether an object of which no state is kept could show that a violation is none. It could not if
// something matches that must not.
func (w *watcher) mayLack(wanted bool) bool {
	count := w.assertion.Count
	none := w.assertion.Absent || count != nil && count.Max != nil && *count.Max == 0
	switch {
	case w.usesAll:
		return true
	case wanted:
		return !none
	}
	return count != nil || w.assertion.Absent
}

// statusOf returns the status of a wrong result. It is a failure only if no change was missed that could have
// prevented it.
func statusOf(missed bool) reports.Status {
	if missed {
		return reports.Error
	}
	return reports.Failed
}
