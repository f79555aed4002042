package assertions

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/reports"
)

// mostInstead is how many changes a message lists that occurred instead.
const mostInstead = 15

func (s *sequencer) passed() Result {
	came := s.taken()
	last := came[len(came)-1]
	message := fmt.Sprintf("They occurred in this order, the last at %s", s.since(last.change.At))
	if why := s.incomplete(); why != "" {
		return s.result(reports.Error, s.text(notJudged(why), s.events(), s.gaps()))
	}
	r := s.result(reports.Passed, s.text(message+".", s.events(), s.gaps()))
	r.EventAt = last.change.At
	r.Object = last.change.Object
	return r
}

func (s *sequencer) failed() Result {
	var message string
	var at time.Time
	if s.early != nil {
		at = s.earlyChange.At
		message = fmt.Sprintf("Event %d occurred too early, at %s%s, when %s was %s%s; event %s had not occurred.",
			s.early.number, s.since(at),
			s.Window.during(s.earlyChange.Seq), s.earlyChange.Name, s.earlyChange.Type, found(*s.earlyChange),
			numbers(s.missing()))
	} else {
		message = fmt.Sprintf("Event %s did not occur.", numbers(s.missing()))
	}
	why := s.incomplete()
	if why != "" {
		message += fmt.Sprintf(" Not judged: %s.", why)
	}
	r := s.result(statusOf(why != ""), s.text(message, s.events(), s.instead(), s.gaps()))
	r.EventAt = at
	if s.early != nil && s.earlyChange.Object != nil {
		r.Evidence = toYAML(s.earlyChange.Object)
	}
	return r
}

func (s *sequencer) couldNot(ctx context.Context, err error) Result {
	if ctx.Err() != nil {
		return s.result(reports.Error, s.text(fmt.Sprintf("Interrupted before it was decided: %v.", context.Cause(ctx)), ""))
	}
	return s.result(reports.Error, s.text(fmt.Sprintf("Could not check: %v.", err), s.events(), s.gaps()))
}

func (s *sequencer) text(message string, parts ...string) string {
	changes := fmt.Sprintf("%d changes in their order", len(s.order.events))
	if len(s.order.events) == 1 {
		changes = "1 change"
	}
	text := fmt.Sprintf("sequence: %s%s. %s", changes, s.phrase(), message)
	for _, part := range parts {
		if part != "" {
			text += "\n" + strings.TrimRight(part, "\n")
		}
	}
	return text
}

// phrase names the time that is judged.
func (s *sequencer) phrase() string {
	if s.Live && s.Window.First == "" {
		return fmt.Sprintf(" within %s", s.Within)
	}
	return s.Window.phrase()
}

// events lists the expected events, and when each occurred.
func (s *sequencer) events() string {
	var b strings.Builder
	for _, e := range s.order.events {
		fmt.Fprintf(&b, "%s%d. %s", s.indent(e), e.number, e.words())
		switch {
		case e.change != nil:
			fmt.Fprintf(&b, ": %s at %s%s%s\n", e.change.Name, s.since(e.change.At), s.Window.during(e.change.Seq),
				found(*e.change))
		case e == s.early:
			b.WriteString(": occurred too early\n")
		default:
			b.WriteString(": did not occur\n")
		}
		if e.change == nil && e.celError != nil {
			fmt.Fprintf(&b, "%s   could not be evaluated, the last time: %v\n", s.indent(e), e.celError)
		}
	}
	return b.String()
}

// indent marks events whose order does not matter.
func (s *sequencer) indent(e *event) string {
	if len(s.groups[e.group]) > 1 {
		return "   | "
	}
	return "  "
}

// words describes the change that an event is.
func (e *event) words() string {
	words := described(e.Kind, e.scope)
	switch {
	case e.Type != "":
		words += " " + e.Type
	default:
		words += " changed"
	}
	if e.Before != "" {
		words += ", before: " + e.Before
	}
	if e.CEL != "" {
		words += ", cel: " + e.CEL
	}
	return words
}

// instead lists the changes of the awaited objects, since the last event that occurred.
func (s *sequencer) instead() string {
	from, last := s.Window.Begin.Seq, "the beginning"
	for _, e := range s.taken() {
		from, last = e.change.Seq, fmt.Sprintf("event %d", e.number)
	}
	var lines []string
	more := 0
	for part, change := range history.Merge(from, s.upTo, s.parts) {
		e := s.concerned(part, change)
		if e == nil {
			continue
		}
		if len(lines) == mostInstead {
			more++
			continue
		}
		lines = append(lines, fmt.Sprintf("  %s %s %s %s%s%s", s.since(change.At), e.Kind, change.Name, change.Type,
			s.Window.during(change.Seq), found(change)))
	}
	if len(lines) == 0 {
		return fmt.Sprintf("Nothing of these objects changed after %s.", last)
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("  ... and %d more", more))
	}
	return fmt.Sprintf("What followed %s instead:\n%s", last, strings.Join(lines, "\n"))
}

// concerned returns an event that is about the object of a change; nil if there is none.
func (s *sequencer) concerned(part int, change history.Change) *event {
	for _, e := range s.order.events {
		if e.part == part && (change.Object == nil || e.scope.Contains(change.Object)) {
			return e
		}
	}
	return nil
}

func (s *sequencer) gaps() string {
	text := ""
	for _, part := range s.parts {
		text += saidGaps(part.Stream, s.Window.Begin.At, s.Window.End.At, s.since)
	}
	return text
}

func (s *sequencer) since(at time.Time) string {
	return "+" + at.Sub(s.Window.Begin.At).Round(time.Millisecond).String()
}

func numbers(events []*event) string {
	var all []string
	for _, e := range events {
		all = append(all, fmt.Sprint(e.number))
	}
	return strings.Join(all, " and ")
}
