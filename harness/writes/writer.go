// Package writes sends the writes of a scenario to an API server, and judges the answers: accepted, rejected, or
// unknown and retried.
package writes

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// ApplyManager owns the fields that apply steps set.
const ApplyManager = "rehearse"

// Default times of a Writer.
const (
	defaultPatience = 10 * time.Second
	webhookPatience = 35 * time.Second
	defaultAppear   = 15 * time.Second
)

// Writer sends the writes of one scenario.
type Writer struct {
	// Client reaches the API server with a configuration from Configure.
	Client dynamic.Interface
	// Kinds finds resources by their kinds.
	Kinds *served.Kinds
	// Namespace of objects that name none.
	Namespace string
	// Differences compares a partial object with a whole one and says how they differ, each in one line; none if it
	// matches.
	Differences func(want, got map[string]any) []string
	// Holds evaluates the CEL expression that a step expects to be true of the object that was returned.
	Holds func(step *scenarios.Step, object map[string]any) (bool, error)
	// Blame names the feature gate or version of Kubernetes that is the likely reason why a field of a kind was dropped;
	// "" if none is known. May be nil.
	Blame func(gvk schema.GroupVersionKind, path []any) string
	// Wrote is called with each object that was made (or may have been), so that it can be removed at the end. May be
	// nil.
	Wrote func(Made)

	// Pauses between tries while the outcome is unknown. Default: from 25 ms to 1 s.
	Pauses func() backoff.BackOff
	// Patience is the timeout of one try. Default: 10 s, or 35 s if the API server's own failure is expected. A
	// connection that hangs must not take all of a step's time.
	Patience time.Duration
	// Appear is how long to wait for a kind that something on the track may have brought. Default: 15 s. A CRD that was
	// just created, or changed, is served a moment later.
	Appear time.Duration
}

// Made names an object that a step made.
type Made struct {
	Resource        schema.GroupVersionResource
	Kind            string
	Namespaced      bool
	Namespace, Name string
	// GenerateName is the beginning of the name, if that is unknown.
	GenerateName string
	// UID of the object; empty when it is unknown whether it was made. Then Manager tells whether it is ours.
	UID     string
	Manager string
}

// Request is one write.
type Request struct {
	// Step with one of the write verbs, its expressions evaluated.
	Step *scenarios.Step
	// Manager is the field manager of this step alone. It shows that this very step wrote an object.
	Manager string
	// Attempt is called with the result of each try that did not decide the outcome. May be nil.
	Attempt func(outcome string)

	// Proof may check later whether the write, if it is rejected, stored something; nil to check at once.
	Proof *Proof

	// start is where writes that are sent at the same time wait for each other; nil for one that is sent alone.
	start *place
}

// Verdict is what to report about a step.
type Verdict struct {
	Status   reports.Status
	Message  string
	Evidence string
	// Problems of a verdict that has several: of several writes, or of one object; nil otherwise.
	Problems []reports.Outcome
	// Held says that the write was rejected, and that the Proof has not yet shown whether it stored something.
	Held bool
	// gone says that the write failed because its object did not exist.
	gone bool
	// Object that was returned; nil when the write was rejected or its outcome is unknown.
	Object map[string]any
	// Objects that were returned for the accepted ones of writes at the same time, in the writes' order.
	Objects []any
}

// outcome is the verdict for a report.
func (v Verdict) outcome() reports.Outcome {
	return reports.Outcome{Status: v.Status, Message: v.Message, Evidence: v.Evidence, Problems: v.Problems}
}

// Do sends a write until its outcome is known or the context ends, and compares that outcome with what the step
// expects.
func (w *Writer) Do(ctx context.Context, request Request) Verdict {
	step := request.Step
	if step.Delete != nil && len(step.Delete.Selector) > 0 {
		return w.deleteAll(ctx, request)
	}
	op, err := w.prepare(request)
	if err != nil {
		return Verdict{Status: reports.Error, Message: err.Error()}
	}
	return w.do(ctx, op, request)
}

func (w *Writer) do(ctx context.Context, op *operation, request Request) Verdict {
	answer := w.decide(ctx, op, request)
	w.tell(op, answer)
	w.learn(op, answer)
	verdict := w.compare(ctx, op, request.Step, answer)
	verdict.Held = answer.held
	return verdict
}

// tell reports what was made, or may have been made.
func (w *Writer) tell(op *operation, a answer) {
	if made, ok := op.made(w, a); ok && w.Wrote != nil {
		w.Wrote(made)
	}
}

// made returns what the write made, or may have made.
func (o *operation) made(w *Writer, a answer) (made Made, ok bool) {
	if !o.makes && !o.upserts || o.existed || o.kind == nil || o.kind.Unstored {
		return made, false
	}
	made = Made{
		Resource: o.kind.Resource, Kind: o.gvk.Kind, Namespaced: o.kind.Namespaced,
		Namespace: o.namespaceOf(w), Name: o.name, Manager: o.manager,
	}
	dry := len(o.dryRun) > 0
	if a.object != nil && (a.stored || a.outcome == Accepted && !dry) {
		made.Name, made.UID = a.object.GetName(), string(a.object.GetUID())
		return made, true
	}
	if o.name == "" {
		made.GenerateName = o.generateName
	}
	return made, a.sent && a.outcome == Unknown && !dry
}

// learn tells Kinds about objects that may define kinds.
func (w *Writer) learn(op *operation, a answer) {
	switch {
	case a.outcome != Accepted || len(op.dryRun) > 0:
	case op.removes:
		w.Kinds.Removed(op.gvk.GroupKind(), op.name)
	case a.object != nil:
		w.Kinds.Wrote(a.object)
	}
}

func (w *Writer) pauses() backoff.BackOff {
	if w.Pauses != nil {
		return w.Pauses()
	}
	return pauses.Growing(25*time.Millisecond, time.Second)
}

// wroteBy reports whether the object's managed fields name the manager.
func wroteBy(object *unstructured.Unstructured, manager string) bool {
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationUpdate {
			return true
		}
	}
	return false
}
