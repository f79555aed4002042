package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/assertions"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// assert decides an assertion on the history of the track, which all its scenarios share.
func (s *scenarioRun) assert(ctx context.Context, i int, step scenarios.Step) result {
	started := time.Now()
	decide, assertion := assertions.Eventually, step.Eventually
	switch {
	case step.RolledOut != nil:
		decide, assertion = assertions.RolledOut, &scenarios.Assertion{Selection: step.RolledOut.Selection, Within: step.RolledOut.Within}
	case step.Always != nil:
		decide, assertion = assertions.Always, step.Always
	case step.Never != nil:
		decide, assertion = assertions.Never, step.Never
	}
	timeout := s.timeout(step, s.StepTimeout)
	kind, err := s.served(ctx, assertion.Selection, assertion.Within.Or(timeout))
	if err != nil {
		return unserved(step, assertion.Selection, err)
	}
	wrong, doubt := s.checkFields(ctx, i, step)
	if wrong != nil {
		return *wrong
	}
	r := decide(ctx, assertions.Input{
		Assertion: *assertion,
		Stream:    s.history.Stream(kind.Resource),
		Scope:     s.looksAt(assertion.Selection, kind),
		CEL:       s.evaluate(ctx, step),
		Why:       s.why(ctx, step),
		Timeout:   timeout,
		Started:   started,
		Since:     s.from,
		Window:    s.windowOf(ctx, i),
		Steps:     s.begun,
		Pods:      s.pods,
	})
	return resultOf(r).with(doubt)
}

// pods lists the pods of a namespace and counts the cluster's nodes, to explain why something does not run.
func (s *scenarioRun) pods(ctx context.Context, namespace string) ([]*unstructured.Unstructured, int, error) {
	core := schema.GroupVersion{Version: "v1"}
	pods, err := s.client.Resource(core.WithResource("pods")).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, 0, err
	}
	nodes, err := s.client.Resource(core.WithResource("nodes")).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, 0, err
	}
	list := make([]*unstructured.Unstructured, len(pods.Items))
	for i := range pods.Items {
		list[i] = &pods.Items[i]
	}
	return list, len(nodes.Items), nil
}

// served waits until the API server serves the kind: what installs it may have been just one step before.
func (s *scenarioRun) served(ctx context.Context, selection scenarios.Selection, within time.Duration) (writes.Kind, error) {
	gv, err := schema.ParseGroupVersion(selection.APIVersion)
	if err != nil {
		return writes.Kind{}, fmt.Errorf("apiVersion %q: %w", selection.APIVersion, err)
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return writes.Await(ctx, s.kinds, gv.WithKind(selection.Kind))
}

// unserved is the result where a kind can't be looked at. That it is not served is a finding, whatever was asked of it: who asks whether there
// is none must be able to look, and what is stored is only out of sight.
func unserved(step scenarios.Step, selection scenarios.Selection, err error) result {
	var none *writes.NotServedError
	if errors.As(err, &none) {
		return failure(reports.Failed, "%s: %v", step.Verb(), err)
	}
	return failure(reports.Error, "%s %s of %s: %v", step.Verb(), selection.Kind, selection.APIVersion, err)
}

func (s *scenarioRun) scope(selection scenarios.Selection, kind writes.Kind) history.Scope {
	scope := history.Scope{Name: selection.Name}
	if kind.Namespaced && !selection.AllNamespaces {
		scope.Namespace = s.namespace
		if selection.Namespace != "" {
			scope.Namespace = selection.Namespace
		}
	}
	if len(selection.Selector) > 0 {
		scope.Selector = labels.SelectorFromSet(selection.Selector)
	}
	return scope
}

// looksAt is the scope of what a step selects; the scenario's history has it.
func (s *scenarioRun) looksAt(selection scenarios.Selection, kind writes.Kind) history.Scope {
	scope := s.scope(selection, kind)
	s.looked = append(s.looked, history.Part{Stream: s.history.Stream(kind.Resource), Scope: scope})
	return scope
}
