package harness

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/assertions"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// span is a time of the scenario that one of its steps judges once it is past.
type span struct {
	judge, first, last int
	window             *assertions.Window
	// missing are the fields that the step asks for and no state of the time has had yet, with what to say of them; nil before the first.
	// unchecked: of one of the states it is not known.
	missing   map[string]string
	unchecked bool
}

// spansOf lists the times that a scenario's steps judge.
func spansOf(s *scenarios.Scenario) []*span {
	var all []*span
	for i := range s.Spec.Steps {
		if first, last, ok := s.Span(i); ok {
			all = append(all, &span{judge: i, first: first, last: last, window: &assertions.Window{
				First: s.Spec.Steps[first].Title(), Last: s.Spec.Steps[last].Title(),
			}})
		}
	}
	return all
}

// beginStep takes note of the beginning of a step, and of the times that begin with it: from here on everything that they are about is watched.
func (s *scenarioRun) beginStep(ctx context.Context, i int) {
	s.watchAhead(ctx, i)
	for _, span := range s.spans {
		if span.first == i {
			span.window.Begin = s.moment(ctx, span.judge)
			span.keepMissing(s.missingFields(ctx, s.scenario.Spec.Steps[span.judge]))
		}
	}
	s.beginSurvivals(ctx, i)
	s.begun = append(s.begun, assertions.Step{Title: s.scenario.Spec.Steps[i].Title(), Seq: s.history.Seq()})
	s.begunAt = append(s.begunAt, s.history.Now())
}

// watchAhead begins to watch what a later eventually may find true of no object: whether its condition was ever asked must not depend on whether
// somebody else watched.
func (s *scenarioRun) watchAhead(ctx context.Context, i int) {
	for _, step := range s.scenario.Spec.Steps[i:] {
		for _, watch := range step.Watches() {
			if !watch.FromTheStart {
				continue
			}
			if kind, err := s.kinds.Find(ctx, schema.FromAPIVersionAndKind(watch.APIVersion, watch.Kind)); err == nil {
				s.history.Stream(kind.Resource)
			}
		}
	}
}

// endStep takes note of the end of a step that passed, and of the times that end with it.
func (s *scenarioRun) endStep(ctx context.Context, i int) {
	if s.scenario.Spec.Steps[i].Transition != nil {
		s.lookAtFields(ctx, i)
	}
	s.endSurvivals(ctx, i)
	for _, span := range s.spans {
		if span.last == i && span.judge != i {
			span.window.End = s.moment(ctx, span.judge)
		}
	}
}

// toldWithin is how long the watch may take to tell of what a step wrote, before the next step begins: it is then said to have come in that one.
const toldWithin = 100 * time.Millisecond

// awaitTold waits until the history has what a step wrote, if it is watched.
func (s *scenarioRun) awaitTold(ctx context.Context, values map[string]any) {
	fields, ok := values["object"].(map[string]any)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, toldWithin)
	defer cancel()
	object := unstructured.Unstructured{Object: fields}
	kind, err := s.kinds.Find(ctx, object.GroupVersionKind())
	if err != nil {
		return
	}
	if stream := s.history.Watched(kind.Resource); stream != nil {
		stream.Told(ctx, object.GetResourceVersion())
	}
}

// moment lets the history catch up with the cluster in everything that a step will look at.
func (s *scenarioRun) moment(ctx context.Context, judge int) assertions.Moment {
	step := s.scenario.Spec.Steps[judge]
	limited, cancel := context.WithTimeout(ctx, s.timeout(step, s.StepTimeout))
	defer cancel()
	at := s.history.Now()
	var err error
	for _, watch := range step.Watches() {
		if err = s.catchUp(limited, watch.Selection); err != nil {
			break
		}
	}
	return assertions.Moment{Seq: s.history.Seq(), At: at, Err: err}
}

func (s *scenarioRun) catchUp(ctx context.Context, selection scenarios.Selection) error {
	kind, err := s.served(ctx, selection, time.Hour)
	if err != nil {
		return fmt.Errorf("%s of %s: %w", selection.Kind, selection.APIVersion, err)
	}
	scope := history.Scope{}
	if !strings.Contains(selection.Namespace, "${") { // only the step itself will know which
		scope.Namespace = s.scope(selection, kind).Namespace
	}
	return s.history.Stream(kind.Resource).CatchUp(ctx, scope)
}

// windowOf is the time that a step judges; nil when it judges none that is past. One that ends with the step itself ends now.
func (s *scenarioRun) windowOf(ctx context.Context, i int) *assertions.Window {
	for _, span := range s.spans {
		if span.judge != i {
			continue
		}
		if span.last == i {
			span.window.End = s.moment(ctx, i)
		}
		span.window.Steps = s.begun[span.first:]
		return span.window
	}
	return nil
}
