package assertions

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// SequenceInput is a sequence and what is needed to decide it.
type SequenceInput struct {
	// Sequence whose ${...} expressions are filled in.
	Sequence scenarios.Sequence
	// Watch finds the stream and the scope of an event's objects.
	Watch func(scenarios.Event) (*history.Stream, history.Scope)
	// Recorder of the streams.
	Recorder *history.Recorder
	// CEL evaluates the events' expressions.
	CEL Evaluate
	// Window is the time in which the events must occur. Without an end (Live) they may still occur.
	Window Window
	// Live: the events may occur until Within is over, counted from Started.
	Live    bool
	Within  time.Duration
	Started time.Time
	// Clock measures the times. Default: the real one. It should be the history's.
	Clock clock.WithDelayedExecution
}

// InOrder decides a sequence. Before it decides, it looks at all streams with a consistent list, so that no change of
// another stream is overtaken.
func InOrder(ctx context.Context, in SequenceInput) Result {
	s := newSequencer(in)
	if s.Window.Begin.Err != nil {
		return s.couldNot(ctx, s.Window.couldNotBegin())
	}
	if !s.Live {
		s.replay(s.Window.End.Seq)
		return s.verdict(ctx, s.Window.End.Err)
	}
	limited, cancel := limitedBy(ctx, s.Clock, s.Started.Add(s.Within).Sub(s.Clock.Now()))
	defer cancel()
	for !s.wait(limited) && limited.Err() == nil {
	}
	return s.verdict(ctx, s.lastLook(ctx))
}

type sequencer struct {
	SequenceInput
	*order
	parts []history.Part
	// upTo is the number of the last change that was looked at.
	upTo int64
	// final: the decision was made when all streams had caught up.
	final bool
}

func newSequencer(in SequenceInput) *sequencer {
	if in.Clock == nil {
		in.Clock = clock.RealClock{}
	}
	s := &sequencer{SequenceInput: in, upTo: in.Window.Begin.Seq}
	s.order = s.beginning()
	return s
}

// beginning returns the order before any event occurred.
func (s *sequencer) beginning() *order {
	o := &order{cel: s.CEL}
	for g, item := range s.Sequence.Events {
		var group []*event
		for _, one := range item.Group() {
			stream, scope := s.Watch(one)
			e := &event{Event: one, part: s.part(stream, scope.Namespace), scope: scope, number: len(o.events) + 1, group: g}
			o.events, group = append(o.events, e), append(group, e)
		}
		o.groups = append(o.groups, group)
	}
	return o
}

// part returns the number of a stream. Its scope is the one namespace that all its events are in, or otherwise
// everything.
func (s *sequencer) part(stream *history.Stream, namespace string) int {
	for i := range s.parts {
		if s.parts[i].Stream == stream {
			if s.parts[i].Scope.Namespace != namespace {
				s.parts[i].Scope.Namespace = ""
			}
			return i
		}
	}
	s.parts = append(s.parts, history.Part{Stream: stream, Scope: history.Scope{Namespace: namespace}})
	return len(s.parts) - 1
}

// replay looks at all changes up to a number again, in the API server's order.
func (s *sequencer) replay(to int64) {
	s.order = s.beginning()
	s.upTo = s.Window.Begin.Seq
	s.goOn(to)
}

// goOn looks at the changes since the last call. The order of changes of different streams may differ later, when it
// is better known.
func (s *sequencer) goOn(to int64) {
	for part, change := range history.Merge(s.upTo, to, s.parts) {
		s.see(part, change)
		if s.decided() {
			break
		}
	}
	s.upTo = to
}

// wait returns true if the sequence is finally decided. It returns false if there may be more to look at, or the
// context ended.
func (s *sequencer) wait(ctx context.Context) bool {
	wakes := make([]<-chan struct{}, len(s.parts))
	for i, part := range s.parts {
		_, _, wakes[i] = part.Stream.Since(s.Recorder.Seq(), history.Scope{})
	}
	s.goOn(s.Recorder.Seq())
	if s.decided() {
		// Other streams may still have earlier changes to report.
		if s.catchUp(ctx) != nil {
			return false
		}
		s.replay(s.Recorder.Seq())
		s.final = s.decided()
		return s.final
	}
	awaitAny(ctx, wakes)
	return false
}

func (s *sequencer) catchUp(ctx context.Context) error {
	for _, part := range s.parts {
		if err := part.Stream.CatchUp(ctx, part.Scope); err != nil {
			return err
		}
	}
	return nil
}

// lastLook looks at everything that happened up to now.
func (s *sequencer) lastLook(ctx context.Context) error {
	if s.final {
		s.Window.End = Moment{Seq: s.upTo, At: s.Clock.Now()}
		return nil
	}
	limited, cancel := limitedBy(ctx, s.Clock, lastLookWithin)
	defer cancel()
	err := s.catchUp(limited)
	s.replay(s.Recorder.Seq())
	s.Window.End = Moment{Seq: s.upTo, At: s.Clock.Now()}
	return err
}

// awaitAny returns when one of the channels is closed, or the context ends.
func awaitAny(ctx context.Context, channels []<-chan struct{}) {
	cases := []reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(ctx.Done())}}
	for _, c := range channels {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(c)})
	}
	reflect.Select(cases)
}

// verdict returns the result of what was seen. err is why the end could not be looked at.
func (s *sequencer) verdict(ctx context.Context, err error) Result {
	switch {
	case ctx.Err() != nil:
		return s.couldNot(ctx, ctx.Err())
	case err != nil:
		return s.couldNot(ctx, fmt.Errorf("at the end: %w", err))
	case s.complete():
		return s.passed()
	default:
		return s.failed()
	}
}

// missed returns how long changes may have been missed.
func (s *sequencer) missed() time.Duration {
	var most time.Duration
	for _, part := range s.parts {
		most = max(most, unobservedOf(part.Stream, s.Window.Begin.At, s.Window.End.At))
	}
	return most
}

// incomplete returns why what was seen is not everything that may decide; "" if it is.
func (s *sequencer) incomplete() string {
	switch missed := s.missed(); {
	case missed > 0:
		return mayHaveMissed(missed)
	case s.skipped > 0:
		return wereDropped(s.skipped)
	case s.unclear != nil:
		return s.unclear.Error()
	}
	return ""
}

func (s *sequencer) result(status reports.Status, message string) Result {
	return Result{Status: status, Message: message, DecidedAt: s.Clock.Now()}
}
