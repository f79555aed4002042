package assertions

import (
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness/history"
)

// mostTimes is how many changes of an object a message lists.
const mostTimes = 10

// timing is when an assertion was judged, and when nothing could be seen meanwhile.
type timing struct {
	Input
	// skipped counts states that were dropped from memory before they could be judged.
	skipped int
	// began is when the first look was done; zero before it.
	began time.Time
}

// times lists the changes of an object, up to what the judge knows.
func (w *watcher) times(namespace, name string) string {
	if name == "" {
		return ""
	}
	changes := w.Stream.ChangesBetween(0, w.seq, history.Scope{Namespace: namespace, Name: name})
	if len(changes) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Changes of %s since the start of %s:", name, w.origin())
	if earlier := len(changes) - mostTimes; earlier > 0 {
		fmt.Fprintf(&b, " %d earlier,", earlier)
		changes = changes[earlier:]
	}
	for i, change := range changes {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " %s %s", change.Type, w.since(change.At))
		if change.Relisted {
			b.WriteString(" (found by a list)")
		}
	}
	b.WriteString(".\n")
	return b.String()
}

// window returns the time that the assertion judges, up to now.
func (w *timing) window() (from, to time.Time) {
	if w.Window != nil {
		return w.Window.Begin.At, w.Window.End.At
	}
	from = w.began
	if from.IsZero() {
		from = w.Started
	}
	return from, w.Clock.Now()
}

// origin names what a message counts times from.
func (w *timing) origin() string {
	if w.Window != nil {
		return fmt.Sprintf("%q", w.Window.First)
	}
	return "the step"
}

// unobserved returns how long changes may have been missed in the window.
func (w *timing) unobserved() time.Duration {
	from, to := w.window()
	return unobservedOf(w.Stream, from, to)
}

// incomplete returns why what was seen is no verdict about every moment of the window; "" if everything was seen.
func (w *timing) incomplete() string {
	switch missed := w.unobserved(); {
	case missed > 0:
		return notJudged(mayHaveMissed(missed))
	case w.skipped > 0:
		return notJudged(wereDropped(w.skipped))
	}
	return ""
}

func wereDropped(states int) string {
	return fmt.Sprintf("%d states were dropped from memory before they could be judged", states)
}

func mayHaveMissed(missed time.Duration) string {
	return fmt.Sprintf("changes may have been missed for %s", missed.Round(time.Millisecond))
}

func notJudged(why string) string {
	return fmt.Sprintf("Not judged: %s. What was seen was as expected.", why)
}

// gaps reports when the watch was not connected, and what that means.
func (w *timing) gaps() string {
	from, to := w.window()
	return saidGaps(w.Stream, from, to, w.since)
}

// gapsWithin returns the gaps that fall into a time, cut to it.
func gapsWithin(stream *history.Stream, from, to time.Time) []history.Gap {
	var gaps []history.Gap
	for _, gap := range stream.Gaps() {
		if gap.From.Before(from) {
			gap.From = from
		}
		if !gap.To.IsZero() && gap.To.After(to) {
			gap.To = to
		}
		if gap.From.Before(to) && (gap.To.IsZero() || gap.From.Before(gap.To)) {
			gaps = append(gaps, gap)
		}
	}
	return gaps
}

// unobservedOf returns how long changes of a stream may have been missed in a time.
func unobservedOf(stream *history.Stream, from, to time.Time) time.Duration {
	var sum time.Duration
	for _, gap := range gapsWithin(stream, from, to) {
		switch {
		case gap.To.IsZero():
			sum += to.Sub(gap.From)
		case gap.Relisted:
			sum += gap.To.Sub(gap.From)
		}
	}
	return sum
}

// saidGaps reports when the watch was not connected within a time, and what that means.
func saidGaps(stream *history.Stream, from, to time.Time, since func(time.Time) string) string {
	var b strings.Builder
	for _, gap := range gapsWithin(stream, from, to) {
		fmt.Fprintf(&b, "Not connected from %s ", since(gap.From))
		switch {
		case gap.To.IsZero():
			b.WriteString("on")
		case gap.Relisted:
			fmt.Fprintf(&b, "to %s; changes may have been missed", since(gap.To))
		default:
			fmt.Fprintf(&b, "to %s; no change was missed", since(gap.To))
		}
		fmt.Fprintf(&b, " (%v).\n", gap.Err)
	}
	return b.String()
}
