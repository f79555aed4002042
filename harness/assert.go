package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/assertions"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// assert decides an assertion on the history of the track, which all its scenarios share.
func (s *scenarioRun) assert(ctx context.Context, step scenarios.Step) result {
	started := time.Now()
	decide, assertion := assertions.Eventually, step.Eventually
	switch {
	case step.Always != nil:
		decide, assertion = assertions.Always, step.Always
	case step.Never != nil:
		decide, assertion = assertions.Never, step.Never
	}
	timeout := s.timeout(step, defaultStepTimeout)
	kind, err := s.served(ctx, *assertion, assertion.Within.Or(timeout))
	if err != nil {
		return unserved(step, *assertion, err)
	}
	r := decide(ctx, assertions.Input{
		Assertion: *assertion,
		Stream:    s.history.Stream(kind.Resource),
		Scope:     s.scope(*assertion, kind),
		CEL: func(expression string, variables map[string]any) (bool, error) {
			vars := s.variables(&step)
			maps.Copy(vars, variables)
			return s.Expressions.WithContext(ctx).EvalBool(expression, vars)
		},
		Timeout: timeout,
		Started: started,
	})
	out := result{Outcome: reports.Outcome{Status: r.Status, Message: r.Message, Evidence: r.Evidence}}
	if r.Object != nil {
		out.values = map[string]any{"object": r.Object.Object}
	}
	return out
}

// served waits until the API server serves the kind: what installs it may have been just one step before.
func (s *scenarioRun) served(ctx context.Context, assertion scenarios.Assertion, within time.Duration) (writes.Kind, error) {
	gv, err := schema.ParseGroupVersion(assertion.APIVersion)
	if err != nil {
		return writes.Kind{}, fmt.Errorf("apiVersion %q: %w", assertion.APIVersion, err)
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return writes.Await(ctx, s.kinds, gv.WithKind(assertion.Kind))
}

// unserved is the result where the kind can't be looked at. That it is not served is an answer to whether there is such an object, but not to
// whether there is none: what is stored is only out of sight.
func unserved(step scenarios.Step, assertion scenarios.Assertion, err error) result {
	var none *writes.NotServedError
	status := reports.Error
	if errors.As(err, &none) && step.Eventually != nil && !assertion.Absent && assertion.Count == nil {
		status = reports.Failed
	}
	return failure(status, "%s %s of %s: %v", step.Verb(), assertion.Kind, assertion.APIVersion, err)
}

func (s *scenarioRun) scope(assertion scenarios.Assertion, kind writes.Kind) history.Scope {
	scope := history.Scope{Name: assertion.Name}
	if kind.Namespaced && !assertion.AllNamespaces {
		scope.Namespace = s.namespace
		if assertion.Namespace != "" {
			scope.Namespace = assertion.Namespace
		}
	}
	if len(assertion.Selector) > 0 {
		scope.Selector = labels.SelectorFromSet(assertion.Selector)
	}
	return scope
}
