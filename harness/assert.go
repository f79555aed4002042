package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/assertions"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// pods lists the pods of a namespace and counts the cluster's nodes, to explain why something does not run.
func pods(ctx context.Context, client dynamic.Interface, namespace string) ([]*unstructured.Unstructured, int, error) {
	core := schema.GroupVersion{Version: "v1"}
	pods, err := client.Resource(core.WithResource("pods")).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, 0, err
	}
	nodes, err := client.Resource(core.WithResource("nodes")).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, 0, err
	}
	all := make([]*unstructured.Unstructured, len(pods.Items))
	for i := range pods.Items {
		all[i] = &pods.Items[i]
	}
	return all, len(nodes.Items), nil
}

// served waits until the API server serves the kind: the previous step may have installed it.
func (s *scenarioRun) served(ctx context.Context, selection scenarios.Selection, within time.Duration) (served.Kind,
	error,
) {
	gv, err := schema.ParseGroupVersion(selection.APIVersion)
	if err != nil {
		return served.Kind{}, fmt.Errorf("apiVersion %q: %w", selection.APIVersion, err)
	}
	return served.Await(ctx, s.shared.kinds, gv.WithKind(selection.Kind), within)
}

// unserved is the result of a step whose kind cannot be read. A kind that is not served is a finding, even for a step
// that asks whether there is no object: that step must be able to look, and stored objects are only out of sight.
func unserved(step scenarios.Step, selection scenarios.Selection, err error) result {
	var none *served.NotServedError
	if errors.As(err, &none) {
		return failure(reports.Failed, "%s: %v", step.Verb(), err)
	}
	return failure(reports.Error, "%s %s of %s: %v", step.Verb(), selection.Kind, selection.APIVersion, err)
}

// scope returns the part of a kind's history that a step selects. The default namespace is the scenario's own.
func scope(selection scenarios.Selection, kind served.Kind, own string) history.Scope {
	selected := history.Scope{Name: selection.Name}
	if kind.Namespaced && !selection.AllNamespaces {
		selected.Namespace = own
		if selection.Namespace != "" {
			selected.Namespace = selection.Namespace
		}
	}
	if len(selection.Selector) > 0 {
		selected.Selector = labels.SelectorFromSet(selection.Selector)
	}
	return selected
}

// looksAt returns the scope of what a step selects, and adds it to the scenario's history.
func (t *timeline) looksAt(selection scenarios.Selection, kind served.Kind) history.Scope {
	selected := scope(selection, kind, t.run.namespace)
	t.looked = append(t.looked, history.Part{Stream: t.run.shared.history.Stream(kind.Resource), Scope: selected})
	return selected
}

// saw reports whether the scenario's history has objects of the scope since the scenario began; nil saw nothing.
func (t *timeline) saw(kind served.Kind, scope history.Scope) bool {
	if t == nil {
		return false
	}
	known := t.run.shared.history
	stream := known.Watched(kind.Resource)
	return stream != nil && len(stream.ChangesBetween(t.from, known.Seq(), scope)) > 0
}

// assert decides an assertion on the history of the track, which all its scenarios share.
func (s *scenarioRun) assert(ctx context.Context, i int, step scenarios.Step, assertion *scenarios.Assertion,
	decide decision,
) result {
	started := time.Now()
	timeout := s.timeout(step, s.shared.StepTimeout)
	kind, err := s.timeline.served(ctx, i, assertion.Selection, assertion.Within.Or(timeout))
	if err != nil {
		return unserved(step, assertion.Selection, err)
	}
	wrong, doubt := s.timeline.askedFields(ctx, i, step)
	if wrong != nil {
		return *wrong
	}
	selected := s.timeline.looksAt(assertion.Selection, kind)
	r := decide(ctx, assertions.Input{
		Assertion: *assertion,
		Stream:    s.shared.history.Stream(kind.Resource),
		Scope:     selected,
		CEL:       s.evaluate(ctx, step),
		Why:       s.why(ctx, step),
		Wants: func(expression, part string) any {
			return s.shared.Expressions.WithContext(ctx).Wants(expression, part, s.variables(&step))
		},
		Timeout: timeout,
		Started: started,
		Spent:   time.Since(started),
		Since:   s.timeline.from,
		Seen:    s.timeline.balanced.saw(kind, selected),
		Window:  s.timeline.windowOf(ctx, i),
		Steps:   s.timeline.begun,
		Pods: func(ctx context.Context, namespace string) ([]*unstructured.Unstructured, int, error) {
			return pods(ctx, s.client, namespace)
		},
	})
	return resultOf(r).with(doubt)
}

// decision is how an assertion is decided.
type decision func(context.Context, assertions.Input) assertions.Result

// evaluate evaluates the CEL of a step that looks at the history.
func (s *scenarioRun) evaluate(ctx context.Context, step scenarios.Step) assertions.Evaluate {
	return func(expression string, variables map[string]any) (bool, error) {
		vars := s.variables(&step)
		maps.Copy(vars, variables)
		return s.shared.Expressions.WithContext(ctx).EvalBool(expression, vars)
	}
}

// why explains why the CEL expression of a step is false.
func (s *scenarioRun) why(ctx context.Context, step scenarios.Step) func(string, map[string]any) string {
	return func(expression string, variables map[string]any) string {
		vars := s.variables(&step)
		maps.Copy(vars, variables)
		return s.shared.Expressions.WithContext(ctx).Why(expression, vars)
	}
}

// resultOf turns the result of an assertion into the result of a step.
func resultOf(r assertions.Result) result {
	out := result{Outcome: reports.Outcome{
		Status: r.Status, Message: r.Message, Note: r.Note, Evidence: r.Evidence, Problems: r.Problems,
	}}
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
