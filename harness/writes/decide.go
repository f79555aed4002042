package writes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// answer is what is known of a write.
type answer struct {
	outcome Outcome
	// object that the API server returned, or that it has, when the write was accepted.
	object *unstructured.Unstructured
	// status is the rejection.
	status metav1.Status
	// err says why the outcome is unknown.
	err      error
	warnings []string
	// sent says that the write may have been stored. It was not if the API server refused to handle it.
	sent bool
	// final says that the outcome stays unknown, however often the write is sent again.
	final bool
	// lost says that the write was accepted, but its answer was lost.
	lost bool
	// stored says that the write was rejected, or a dry run, but has changed what is stored.
	stored bool
	// doubt says that after a rejection or a dry run something else is stored than before, and that it is unknown who
	// changed it.
	doubt string
	// held says that the Proof has not yet shown whether a rejection stored something.
	held bool
	// note is what else there is to say about a rejection.
	note string
	// notServed says that nothing judged the object, since its kind is not served.
	notServed bool
}

// decide sends the write until its outcome is known or the context ends.
func (w *Writer) decide(ctx context.Context, op *operation, request Request) answer {
	appear, cancel := context.WithTimeout(ctx, within(ctx, cmp.Or(w.Appear, defaultAppear)))
	defer cancel()
	again, sent, patience := w.pauses(), false, w.patience(request.Step)
	var said error // the last error that was not only a timeout
	for {
		a := w.attempt(ctx, appear, patience, op, request, sent)
		patience = max(patience, longer(w.Patience, a.err))
		sent = sent || a.sent
		a.sent = sent
		if a.outcome != Unknown || a.final {
			return a
		}
		if unserved(a.err) && asksForNotFound(wanted(request.Step)) {
			w.Kinds.Reset() // the kind may have been removed since it was found
		}
		if said != nil && cutOff(a.err) {
			a.err = said
		}
		said = a.err
		if ctx.Err() != nil {
			return timeUp(ctx, a)
		}
		if request.Attempt != nil {
			request.Attempt("unknown: " + a.err.Error())
		}
		if !pauses.Wait(ctx, again) {
			return timeUp(ctx, a)
		}
	}
}

// cutOff reports whether an attempt timed out before there was an answer.
func cutOff(err error) bool {
	_, answered := StatusOf(err)
	return !answered && errors.Is(err, context.DeadlineExceeded)
}

// timeUp adds why the retries ended.
func timeUp(ctx context.Context, a answer) answer {
	if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) {
		a.err = errors.Join(cause, a.err)
	}
	return a
}

// within is at most half of the time that is left, so that the write itself is always sent.
func within(ctx context.Context, wait time.Duration) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		return min(wait, time.Until(end)/2)
	}
	return wait
}

// patience returns the timeout of the first try. An API server waits up to 30 seconds for a webhook before it reports
// that the webhook did not answer. A step that expects such a report waits for it.
func (w *Writer) patience(step *scenarios.Step) time.Duration {
	usual := defaultPatience
	if step.Expect != nil && step.Expect.Rejected != nil && step.Expect.Rejected.Code >= http.StatusInternalServerError {
		usual = webhookPatience
	}
	return cmp.Or(w.Patience, usual)
}

// longer returns the least timeout of the next try. If the API server did not answer in time, it may wait for a webhook
// whose failure it ignores: such a write is accepted after ten seconds or more. A timeout that is set stays.
func longer(set time.Duration, err error) time.Duration {
	if set == 0 && cutOff(err) {
		return webhookPatience
	}
	return set
}

// attempt sends the write once. The sent argument says that an earlier attempt may have been stored.
func (w *Writer) attempt(ctx, appear context.Context, patience time.Duration, op *operation, request Request,
	sent bool,
) answer {
	step := request.Step
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	kind, err := w.Kinds.Find(ctx, op.gvk)
	if err != nil {
		return notServed(err, appear, step)
	}
	op.kind = &kind
	api := op.api(w)
	if sent && !op.repeatable && !kind.Unstored {
		if a, known := earlier(ctx, op, api, step); known {
			return a
		}
	}
	if !sent {
		request.Proof.begin(ctx, op)
		if err := w.lookBefore(ctx, op, request); err != nil {
			return answer{err: err}
		}
	}
	if !sent && stillAccepted(ctx, appear, w, op, step) {
		return answer{err: errors.New("the definition of its kind was just written, and the API server still accepts as a " +
			"dry run what should be rejected")}
	}
	if request.start != nil {
		if err := request.start.arrive(ctx); err != nil {
			return answer{err: fmt.Errorf("wait for the other writes to be ready: %w", err)}
		}
	}
	ctx, drawn := withWarnings(ctx)
	object, err := op.send(withUser(ctx, step.As), api, op)
	a := judged(object, err, step)
	a.warnings = drawn.all()
	if a.outcome == Rejected && (w.outdated(appear, op, step, a.status) || classUnseen(ctx, appear, w, step, a.status)) {
		return answer{err: err}
	}
	if a.outcome == Unknown {
		return a
	}
	if a.outcome == Accepted && len(op.dryRun) == 0 {
		request.Proof.accept(a.object)
	}
	if a.outcome == Rejected && a.status.Code == http.StatusNotFound {
		// The kind may have been removed since it was found.
		w.Kinds.Reset()
		if _, err := w.Kinds.Find(ctx, op.gvk); err != nil {
			return notServed(err, appear, step)
		}
	}
	if a.held = !sent && request.Proof.hold(op, step, a); a.held {
		return a
	}
	return w.verify(ctx, op, step, a, sent)
}

// earlier returns what is known of an earlier attempt whose answer was lost. It returns false if it was not stored.
func earlier(ctx context.Context, op *operation, api dynamic.ResourceInterface, step *scenarios.Step) (answer, bool) {
	object, landed, err := op.landed(ctx, api)
	switch others := op.others(step); {
	case err != nil:
		return answer{err: fmt.Errorf("check whether the earlier attempt was stored: %w", err)}, true
	case landed && others != "":
		err := fmt.Errorf("the answer of an earlier attempt was lost, and %s: %s", asIfAccepted, others)
		return answer{final: true, err: err}, true
	case landed:
		return answer{outcome: Accepted, object: object, lost: true}, true
	}
	return answer{}, false
}

// outdated reports whether the API server may have rejected by an old definition of the kind. It is then asked again.
func (w *Writer) outdated(appear context.Context, op *operation, step *scenarios.Step, status metav1.Status) bool {
	return wanted(step) == nil && rejectedBy(status).by == scenarios.BySchema && mayBeOld(appear, w.Kinds, op.gvk)
}

// stillAccepted reports whether the API server accepts, as a dry run, what the step expects it to reject, and may do so
// by an old definition of the kind. The write itself waits.
func stillAccepted(ctx, appear context.Context, w *Writer, o *operation, step *scenarios.Step) bool {
	if wanted(step) == nil || o.either || o.removes || !mayBeOld(appear, w.Kinds, o.gvk) {
		return false
	}
	try := *o
	try.dryRun = []string{metav1.DryRunAll}
	_, err := try.send(withUser(ctx, step.As), o.api(w), &try)
	return err == nil
}

// mayBeOld reports whether the API server may judge by the definition of a kind from before the track changed it. This
// ends a while after the first attempt.
func mayBeOld(appear context.Context, kinds *served.Kinds, gvk schema.GroupVersionKind) bool {
	if !kinds.IsFresh(gvk) {
		return false
	}
	if appear.Err() != nil {
		kinds.Settle(gvk)
		return false
	}
	return true
}

func judged(object *unstructured.Unstructured, err error, step *scenarios.Step) answer {
	var unsent *unsentError
	var stale *staleError
	if errors.As(err, &unsent) || errors.As(err, &stale) {
		return answer{err: err}
	}
	status, _ := StatusOf(err)
	if ownRejection(status, step.As) {
		return answer{err: fmt.Errorf("it could not be sent as user %s: %w", step.As.User, err)}
	}
	return answer{
		outcome: judgeFor(err, wanted(step)), object: object, status: status, err: err, sent: !refused(err),
	}
}

// notServed judges a write whose kind could not be found. The outcome is unknown if the API server could not be
// asked. If something on the track may have brought the kind, it is also unknown for a while after an answer, since
// what was just installed is served a moment later; unless the scenario wants that the kind is not found.
func notServed(err error, appear context.Context, step *scenarios.Step) answer {
	var none *served.NotServedError
	if !errors.As(err, &none) {
		return answer{err: err}
	}
	asked := asksForNotFound(wanted(step))
	if none.MayAppear && !asked && appear.Err() == nil {
		return answer{err: err}
	}
	return answer{outcome: Rejected, status: none.Status(), err: err, notServed: true}
}

func asksForNotFound(want *scenarios.Rejection) bool {
	if want == nil {
		return false
	}
	return want.Code == http.StatusNotFound || want.Reason == string(metav1.StatusReasonNotFound) ||
		slices.ContainsFunc(want.AnyOf, func(one scenarios.Rejection) bool { return asksForNotFound(&one) })
}

func wanted(step *scenarios.Step) *scenarios.Rejection {
	if step.Expect == nil {
		return nil
	}
	return step.Expect.Rejected
}
