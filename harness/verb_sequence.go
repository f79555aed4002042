package harness

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/assertions"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func sequenceVerb() verb { return verb{run: runSequence, waits: true} }

// runSequence decides whether changes occurred in their order.
func runSequence(ctx context.Context, s *scenarioRun, i int, step scenarios.Step) result {
	started, timeout := time.Now(), s.timeout(step, s.shared.StepTimeout)
	in := assertions.SequenceInput{
		Sequence: *step.Sequence, Recorder: s.shared.history, CEL: s.evaluate(ctx, step),
		Within: step.Sequence.Within.Or(timeout), Started: started,
	}
	first, last, past := s.scenario.Span(i)
	in.Live = !past || last == i
	switch {
	case !past:
		// If the watch is away now, an event that is awaited may be missed: the time includes that.
		in.Window.Begin = s.timeline.moment(ctx, i)
		in.Window.Steps = s.timeline.begun[i:]
	case last == i:
		for _, span := range s.timeline.spans {
			if span.judge == i {
				in.Window = *span.window
			}
		}
		in.Window.Steps = s.timeline.begun[first:]
	default:
		in.Window = *s.timeline.windowOf(ctx, i)
	}
	kinds := map[schema.GroupVersionKind]served.Kind{}
	for _, watch := range step.Watches() {
		kind, err := s.timeline.served(ctx, i, watch.Selection, timeout)
		if err != nil {
			return unserved(step, watch.Selection, err)
		}
		kinds[schema.FromAPIVersionAndKind(watch.APIVersion, watch.Kind)] = kind
	}
	wrong, doubt := s.timeline.askedFields(ctx, i, step)
	if wrong != nil {
		return *wrong
	}
	in.Watch = func(event scenarios.Event) (*history.Stream, history.Scope) {
		kind := kinds[schema.FromAPIVersionAndKind(event.APIVersion, event.Kind)]
		return s.shared.history.Stream(kind.Resource), s.timeline.looksAt(event.Selection(), kind)
	}
	return resultOf(assertions.InOrder(ctx, in)).with(doubt)
}
