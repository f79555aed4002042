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
	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/harness/unknownfields"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// timeline records when the steps of a scenario began, and what they looked at since then.
type timeline struct {
	run *scenarioRun
	// spans are the times that steps judge afterwards. begun are the steps that have begun. looked is what they looked
	// at.
	spans   []*span
	begun   []assertions.Step
	begunAt []time.Time
	looked  []history.Part
	// from is the number of the history's last change before the scenario began. beginning is when it began.
	from      int64
	beginning time.Time
	// balanced is the scenario's own timeline, if this one is of a single API server.
	balanced *timeline
	// ahead are the kinds that are watched early for later steps; nil before the first step.
	ahead map[schema.GroupVersionKind]int
}

// span is a time of the scenario that one of its steps judges once it is past.
type span struct {
	judge, first, last int
	window             *assertions.Window
	// kinds are the kinds that the step looks at, as they were served when the time began. They can be judged even if they
	// are not served any more.
	kinds map[schema.GroupVersionKind]served.Kind
	// missing are the fields that the step asks for and that no state of the time has had yet.
	missing unknownfields.Missing
}

// spansOf lists the times that the scenario's steps judge, for the steps that satisfy a condition.
func spansOf(s *scenarios.Scenario, of func(*scenarios.Step) bool) []*span {
	var all []*span
	for i := range s.Spec.Steps {
		if first, last, ok := s.Span(i); ok && of(&s.Spec.Steps[i]) {
			all = append(all, &span{judge: i, first: first, last: last, window: &assertions.Window{
				First: s.Spec.Steps[first].Title(), Last: s.Spec.Steps[last].Title(),
			}})
		}
	}
	return all
}

// begin notes the beginning of a step, and of the times that begin with it. From then on everything that these times
// judge is watched.
func (t *timeline) begin(ctx context.Context, i int) {
	t.watchAhead(ctx, i)
	for _, span := range t.spans {
		if span.first == i {
			span.window.Begin = t.beginOf(ctx, span.judge)
			span.kinds = t.kindsOf(ctx, span.judge)
			span.missing.Keep(t.missing(ctx, span))
		}
	}
	t.begun = append(t.begun, assertions.Step{
		Title: t.run.scenario.Spec.Steps[i].Title(),
		Seq:   t.run.shared.history.Seq(),
	})
	t.begunAt = append(t.begunAt, t.run.shared.history.Now())
}

// kindsOf returns the served kinds that a step will look at.
func (t *timeline) kindsOf(ctx context.Context, judge int) map[schema.GroupVersionKind]served.Kind {
	kinds := map[schema.GroupVersionKind]served.Kind{}
	for _, watch := range t.run.scenario.Spec.Steps[judge].Watches() {
		gvk := schema.FromAPIVersionAndKind(watch.APIVersion, watch.Kind)
		if kind, err := t.run.shared.kinds.Find(ctx, gvk); err == nil {
			kinds[gvk] = kind
		}
	}
	return kinds
}

// served finds the kind that step i judges. For a time that is past, it need not be served any more.
func (t *timeline) served(ctx context.Context, i int, selection scenarios.Selection, within time.Duration) (served.Kind,
	error,
) {
	if span := t.spanOf(i); span != nil && span.last < i {
		if kind, ok := span.kinds[schema.FromAPIVersionAndKind(selection.APIVersion, selection.Kind)]; ok {
			return kind, nil
		}
	}
	return t.run.served(ctx, selection, within)
}

// watchAhead starts to watch what a later eventually may find true of no object: whether its condition was ever
// checked must not depend on other watchers.
func (t *timeline) watchAhead(ctx context.Context, i int) {
	if t.ahead == nil {
		t.ahead = watchedAhead(t.run.scenario.Spec.Steps)
	}
	for kind, last := range t.ahead {
		if last < i {
			continue
		}
		t.follow(ctx, kind)
	}
}

// follow starts to watch a kind, and waits for the first list: what goes before that list was never seen.
func (t *timeline) follow(ctx context.Context, kind schema.GroupVersionKind) {
	known := t.run.shared.history
	found, err := t.run.shared.kinds.Find(ctx, kind)
	if err != nil || known.Watched(found.Resource) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, toldWithin)
	defer cancel()
	_ = known.Stream(found.Resource).CatchUp(ctx, history.Scope{}) // the step that needs it waits for longer
}

// watchedAhead lists the kinds that are watched from the start, each with the last step that uses it.
func watchedAhead(steps []scenarios.Step) map[schema.GroupVersionKind]int {
	ahead := map[schema.GroupVersionKind]int{}
	for i := range steps {
		for _, watch := range steps[i].Watches() {
			if watch.FromTheStart {
				ahead[schema.FromAPIVersionAndKind(watch.APIVersion, watch.Kind)] = i
			}
		}
	}
	return ahead
}

// end notes the end of a step after which the scenario continues, and of the times that end with it.
func (t *timeline) end(ctx context.Context, i int) {
	if t.run.scenario.Spec.Steps[i].Transition != nil {
		t.lookForFields(ctx, i)
	}
	for _, span := range t.spans {
		if span.last == i && span.judge != i {
			span.window.End = t.moment(ctx, span.judge)
		}
	}
}

// finder finds fields in the schemas of the scenario's API server.
func (t *timeline) finder() unknownfields.Finder {
	track := t.run.shared
	return unknownfields.Finder{Kinds: track.kinds, Schemas: track.schemas, Expressions: track.Expressions}
}

// missing returns the fields that the step of a time asks for and that the cluster's current state does not have.
func (t *timeline) missing(ctx context.Context, span *span) unknownfields.Missing {
	return t.finder().Missing(ctx, t.run.scenario.Spec.Steps[span.judge], t.run.at > 0)
}

// lookForFields looks in the cluster's current state for the missing fields of the times that contain step i.
func (t *timeline) lookForFields(ctx context.Context, i int) {
	for _, span := range t.spans {
		if span.first <= i && i <= span.last && span.missing.Open() {
			span.missing.Keep(t.missing(ctx, span))
		}
	}
}

// askedFields finds out whether a step asks for fields that do not exist, so that it could never fail, or never pass.
// If so, wrong is its result. wrong is nil if at least one of the judged states has the fields. doubt says that no
// schema could be looked up.
func (t *timeline) askedFields(ctx context.Context, i int, step scenarios.Step) (wrong *result, doubt string) {
	var before *unknownfields.Missing
	if span := t.spanOf(i); span != nil {
		before = &span.missing
	}
	problem, doubt := t.finder().Problem(ctx, step, t.run.at > 0, before)
	if problem == "" {
		return nil, doubt
	}
	r := failure(unknownfields.Status(step), "%s", problem)
	return &r, ""
}

// toldWithin is how long the watch may take to report what a step wrote, before the next step begins. A later report
// is attributed to the next step.
const toldWithin = 2 * time.Second

// awaitTold waits until the history has what a step wrote, if it is watched.
func (t *timeline) awaitTold(ctx context.Context, values map[string]any) {
	fields, ok := values["object"].(map[string]any)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, toldWithin)
	defer cancel()
	object := &unstructured.Unstructured{Object: fields}
	if stream := t.watched(ctx, object); stream != nil {
		stream.Told(ctx, object.GetResourceVersion())
	}
	if t.balanced != nil { // the scenario's other steps are judged by what its own history shows
		t.balanced.awaitTold(ctx, values)
		return
	}
	t.run.lookBack.expect(ctx, object)
}

// watched returns the stream that reports a written object; nil if there is none. Its kind may be new in the cluster.
func (t *timeline) watched(ctx context.Context, object *unstructured.Unstructured) *history.Stream {
	if _, later := t.ahead[object.GroupVersionKind()]; later {
		t.follow(ctx, object.GroupVersionKind())
	}
	kind, err := t.run.shared.kinds.Find(ctx, object.GroupVersionKind())
	if err != nil {
		return nil
	}
	return t.run.shared.history.Watched(kind.Resource)
}

// beginOf returns the moment at which a time begins that a step will judge. Nothing of that time happens before the
// history has caught up, so it does not matter whether the watch was away until then.
func (t *timeline) beginOf(ctx context.Context, judge int) assertions.Moment {
	err := t.reach(ctx, judge)
	at := t.run.shared.history.Now() // before the number is read, since changes may be missed in between
	return assertions.Moment{Seq: t.run.shared.history.Seq(), At: at, Err: err}
}

// moment returns the current moment, after the history has caught up with it.
func (t *timeline) moment(ctx context.Context, judge int) assertions.Moment {
	at := t.run.shared.history.Now()
	err := t.reach(ctx, judge)
	return assertions.Moment{Seq: t.run.shared.history.Seq(), At: at, Err: err}
}

// reach waits until the history has caught up with the cluster in everything that a step will look at.
func (t *timeline) reach(ctx context.Context, judge int) error {
	step := t.run.scenario.Spec.Steps[judge]
	limited, cancel := context.WithTimeout(ctx, t.run.timeout(step, t.run.shared.StepTimeout))
	defer cancel()
	for _, watch := range step.Watches() {
		if err := t.catchUp(limited, watch.Selection); err != nil {
			return err
		}
	}
	return nil
}

func (t *timeline) catchUp(ctx context.Context, selection scenarios.Selection) error {
	kind, err := t.run.served(ctx, selection, time.Hour)
	if err != nil {
		return fmt.Errorf("%s of %s: %w", selection.Kind, selection.APIVersion, err)
	}
	where := history.Scope{}
	if !strings.Contains(selection.Namespace, "${") { // only the step itself will know which
		where.Namespace = scope(selection, kind, t.run.namespace).Namespace
	}
	return t.run.shared.history.Stream(kind.Resource).CatchUp(ctx, where)
}

// windowOf returns the time that a step judges; nil if it judges no past time. A time that ends with the step itself
// ends now.
func (t *timeline) windowOf(ctx context.Context, i int) *assertions.Window {
	span := t.spanOf(i)
	if span == nil {
		return nil
	}
	if span.last == i {
		span.window.End = t.moment(ctx, i)
	}
	span.window.Steps = t.begun[span.first:]
	return span.window
}

// spanOf returns the time that a step judges; nil if it judges no past time.
func (t *timeline) spanOf(i int) *span {
	for _, span := range t.spans {
		if span.judge == i {
			return span
		}
	}
	return nil
}
