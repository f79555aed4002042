// Package assertions judges a scenario's assertions on every change in the history, and explains failures.
package assertions

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Evaluate evaluates a CEL expression to true or false, given the variables "object" (the fields of the object) and
// "objects" (the fields of each selected object). After a *expressions.MissingError this object does not match, unless
// the expression is about all objects and the assertion forbids something; after any other error it is unknown whether
// it does.
type Evaluate func(expression string, variables map[string]any) (bool, error)

// Input is an assertion and what is needed to decide it.
type Input struct {
	// Assertion whose ${...} expressions are filled in.
	Assertion scenarios.Assertion
	// Stream of the resource, and the Scope of the objects that the assertion selects.
	Stream *history.Stream
	Scope  history.Scope
	// CEL evaluates the assertion's expression; it may be nil if there is none.
	CEL Evaluate
	// Why explains why the assertion's expression is false, in lines; it may be nil.
	Why func(expression string, variables map[string]any) string
	// Wants returns the value that the assertion's expression requires of a part of it, such as "object.metadata.uid";
	// nil if it requires none. It may be nil.
	Wants func(expression, part string) any
	// Timeout is how long Eventually may take if the assertion sets no time, and how long Always and Never wait for the
	// cluster to be observable, at their start and at their end. Default: 30s.
	Timeout time.Duration
	// Started is when the step began. Messages count times from it. Default: now. With a Window it is the window's
	// beginning.
	Started time.Time
	// Spent is how much of the time of Eventually had passed before the call, since Started.
	Spent time.Duration
	// Since is the number of the history's last change before the scenario began. If Eventually finds a condition true
	// of no object at all, the condition must have been checked on an object since then.
	Since int64
	// Seen: such objects were there since, as another history of the cluster shows.
	Seen bool
	// Window is the time that is judged, if it is past: for Unchanged, and for Always and Never with throughout.
	Window *Window
	// Steps of the scenario that have begun, in their order, to say in which one something happened.
	Steps []Step
	// Pods lists the pods of a namespace, and counts the nodes of the cluster, to explain a failure; it may be nil.
	Pods func(ctx context.Context, namespace string) (pods []*unstructured.Unstructured, nodes int, err error)
	// Clock measures the times. Default: the real one. It should be the history's.
	Clock clock.WithDelayedExecution
}

// Result is the result of an assertion.
type Result struct {
	// Status is Passed or Failed, or Error when it could not be decided.
	Status reports.Status
	// Message says what was wanted and, if it is not true, everything that a stranger needs to know.
	Message string
	// Note is what a reader of a passed step should know.
	Note string
	// Evidence is the object that the result is based on, as YAML if it is not as wanted.
	Evidence string
	// Problems of a failure that has several, each of one object; nil otherwise.
	Problems []reports.Outcome
	// Object that matched (the first by namespace and name); nil when none did.
	Object *unstructured.Unstructured
	// Objects are all that were selected when it passed, by namespace and name; nil if it selects none.
	Objects []*unstructured.Unstructured
	// DecidedAt is when the result was known. EventAt is when the deciding change was recorded; zero if no change
	// decided, but the first look or the timeout.
	DecidedAt, EventAt time.Time
}

func (in Input) withDefaults() Input {
	if in.Clock == nil {
		in.Clock = clock.RealClock{}
	}
	if in.Window != nil {
		in.Started = in.Window.Begin.At
	}
	if in.Started.IsZero() {
		in.Started = in.Clock.Now()
	}
	if in.Timeout <= 0 {
		in.Timeout = 30 * time.Second
	}
	return in
}
