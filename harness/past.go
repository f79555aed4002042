package harness

import (
	"context"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/assertions"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// evaluate evaluates the CEL of a step that looks at the history.
func (s *scenarioRun) evaluate(ctx context.Context, step scenarios.Step) assertions.Evaluate {
	return func(expression string, variables map[string]any) (bool, error) {
		vars := s.variables(&step)
		maps.Copy(vars, variables)
		return s.Expressions.WithContext(ctx).EvalBool(expression, vars)
	}
}

// why says why the CEL of a step is false.
func (s *scenarioRun) why(ctx context.Context, step scenarios.Step) func(string, map[string]any) string {
	return func(expression string, variables map[string]any) string {
		vars := s.variables(&step)
		maps.Copy(vars, variables)
		return s.Expressions.WithContext(ctx).Why(expression, vars)
	}
}

// resultOf is what an assertion came to, as the result of a step.
func resultOf(r assertions.Result) result {
	out := result{Outcome: reports.Outcome{Status: r.Status, Message: r.Message, Note: r.Note, Evidence: r.Evidence}}
	out.values = map[string]any{}
	if r.Objects != nil {
		objects := make([]any, len(r.Objects))
		for i, object := range r.Objects {
			objects[i] = object.Object
		}
		out.values["objects"] = objects
	}
	if r.Object != nil {
		out.values["object"] = r.Object.Object
	}
	return out
}

// with adds to what the result rests on.
func (r result) with(evidence string) result {
	r.Evidence = strings.TrimPrefix(r.Evidence+evidence, "\n")
	return r
}

// unchanged decides whether objects stayed as they were.
func (s *scenarioRun) unchanged(ctx context.Context, i int, step scenarios.Step) result {
	selection := step.Unchanged.Selection
	kind, err := s.served(ctx, selection, s.timeout(step, s.StepTimeout))
	if err != nil {
		return unserved(step, selection, err)
	}
	wrong, doubt := s.checkFields(ctx, i, step)
	if wrong != nil {
		return *wrong
	}
	window := s.windowOf(ctx, i)
	if window == nil {
		return failure(reports.Error, "unchanged %s: no time is given", selection.Kind)
	}
	return resultOf(assertions.Unchanged(ctx, assertions.Input{
		Assertion: scenarios.Assertion{Selection: selection},
		Stream:    s.history.Stream(kind.Resource),
		Scope:     s.looksAt(selection, kind),
		Window:    window,
	}, step.Unchanged.Paths)).with(doubt)
}

// sequence decides whether changes came in their order.
func (s *scenarioRun) sequence(ctx context.Context, i int, step scenarios.Step) result {
	started, timeout := time.Now(), s.timeout(step, s.StepTimeout)
	in := assertions.SequenceInput{
		Sequence: *step.Sequence, Recorder: s.history, CEL: s.evaluate(ctx, step),
		Within: step.Sequence.Within.Or(timeout), Started: started,
	}
	first, last, past := s.scenario.Span(i)
	in.Live = !past || last == i
	switch {
	case !past:
		in.Window.Begin = s.moment(ctx, i)
		in.Window.Steps = s.begun[i:]
	case last == i:
		for _, span := range s.spans {
			if span.judge == i {
				in.Window = *span.window
			}
		}
		in.Window.Steps = s.begun[first:]
	default:
		in.Window = *s.windowOf(ctx, i)
	}
	kinds := map[schema.GroupVersionKind]writes.Kind{}
	for _, watch := range step.Watches() {
		kind, err := s.served(ctx, watch.Selection, timeout)
		if err != nil {
			return unserved(step, watch.Selection, err)
		}
		kinds[schema.FromAPIVersionAndKind(watch.APIVersion, watch.Kind)] = kind
	}
	wrong, doubt := s.checkFields(ctx, i, step)
	if wrong != nil {
		return *wrong
	}
	in.Watch = func(event scenarios.Event) (*history.Stream, history.Scope) {
		kind := kinds[schema.FromAPIVersionAndKind(event.APIVersion, event.Kind)]
		return s.history.Stream(kind.Resource), s.looksAt(event.Selection(), kind)
	}
	return resultOf(assertions.InOrder(ctx, in)).with(doubt)
}
