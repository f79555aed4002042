package writes

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// landed reports whether a try whose answer was lost was stored: the object then has this step's field manager or,
// for a deletion, is gone or being deleted.
func (o *operation) landed(ctx context.Context, api dynamic.ResourceInterface) (*unstructured.Unstructured, bool,
	error,
) {
	if len(o.dryRun) > 0 {
		return nil, false, nil
	}
	object, err := o.look(ctx, api)
	if err != nil {
		return nil, false, err
	}
	if o.removes {
		return o.before, isGone(o.before, object), nil
	}
	return object, object != nil && wroteBy(object, o.manager), nil
}

// asIfAccepted is what a rejected removal shows if its object was removed.
const asIfAccepted = "the object is gone or terminating, as if the write had been accepted"

// isGone reports whether the object that was there before a removal is gone or being deleted.
func isGone(before, now *unstructured.Unstructured) bool {
	return before != nil && (now == nil || now.GetUID() != before.GetUID() ||
		now.GetDeletionTimestamp() != nil && before.GetDeletionTimestamp() == nil)
}

// others says who else may have removed the object of a removal; "" if nobody is known. A step that wants the object
// to be gone does not ask whether the object's owner removed it.
func (o *operation) others(step *scenarios.Step) string {
	switch {
	case !o.removes || o.before == nil:
	case o.rival:
		return "another of these writes may have removed it"
	case len(o.before.GetOwnerReferences()) > 0 && (wanted(step) != nil || len(o.dryRun) > 0):
		owner := o.before.GetOwnerReferences()[0]
		return fmt.Sprintf("a controller may have deleted it; its owner is %s %s", owner.Kind, owner.Name)
	}
	return ""
}

// look reads the object; nil if it does not exist. One with a generated name is found by this step's field manager.
func (o *operation) look(ctx context.Context, api dynamic.ResourceInterface) (*unstructured.Unstructured, error) {
	if o.name == "" {
		return o.lookGenerated(ctx, api)
	}
	object, err := api.Get(ctx, o.name, metav1.GetOptions{})
	if absent(err) {
		return nil, nil
	}
	return object, err
}

func (o *operation) lookGenerated(ctx context.Context, api dynamic.ResourceInterface) (*unstructured.Unstructured,
	error,
) {
	list, err := api.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var stranger *unstructured.Unstructured
	for i := range list.Items {
		switch object := &list.Items[i]; {
		case !strings.HasPrefix(object.GetName(), o.generateName):
		case wroteBy(object, o.manager):
			return object, nil
		case o.there.isNew(object):
			stranger = object
		}
	}
	return stranger, nil
}

// lookBefore keeps what exists before the write, if that is needed: to see that a rejected change stored nothing, and
// to distinguish an apply that makes an object from one that changes it. Most applies are not looked at: that would be
// a request more for each, and is of use only if the first answer is lost and the next one is a rejection.
func (w *Writer) lookBefore(ctx context.Context, op *operation, request Request) (err error) {
	if op.kind.Unstored {
		return nil
	}
	outside := op.applies() && (!op.kind.Namespaced || op.namespaceOf(w) != w.Namespace)
	compared := wanted(request.Step) != nil || len(op.dryRun) > 0
	switch {
	case outside || op.changes && compared:
		op.before, err = op.look(ctx, op.api(w))
		op.existed, op.looked = op.before != nil, err == nil
	case op.creates() && compared && request.Proof.watches(op):
		op.there = request.Proof.there
	case op.creates() && compared:
		op.there, err = op.lookForStrangers(ctx, op.api(w))
	}
	if err != nil {
		return fmt.Errorf("read %s before the write: %w", cmp.Or(op.name, op.gvk.Kind), err)
	}
	return nil
}

// verify checks that a rejected write, or a dry run, stored nothing. It tries until it can look. If it never can, the
// outcome is unknown.
func (w *Writer) verify(ctx context.Context, op *operation, step *scenarios.Step, a answer, sent bool) answer {
	dry := len(op.dryRun) > 0
	if op.effect == (effect{}) || op.kind.Unstored || !dry && (a.outcome == Accepted || wanted(step) == nil && !sent) {
		return a
	}
	again := w.pauses()
	for {
		now, err := op.look(ctx, op.api(w))
		if err == nil || unserved(err) && foreign(a.status) { // the step expects that the kind is not served
			return op.afterwards(step, a, now, sent)
		}
		if !pauses.Wait(ctx, again) {
			return unseen(a, err)
		}
	}
}

// unseen is the answer for a rejection, or a dry run, that could not be checked.
func unseen(a answer, err error) answer {
	what := "was accepted as a dry run"
	if a.outcome == Rejected {
		what = fmt.Sprintf("was rejected (%s)", a.status.Message)
	}
	return answer{sent: true, err: fmt.Errorf("%s, but it could not be checked that nothing was stored: %w", what, err)}
}

// afterwards compares the object after a rejection, or a dry run, with the one before.
func (o *operation) afterwards(step *scenarios.Step, a answer, now *unstructured.Unstructured, sent bool) answer {
	found, what := o.trace(now)
	others := o.others(step)
	switch {
	case found == ours && sent && len(o.dryRun) == 0 && others != "":
		a.doubt = what + ": " + others
	case found == ours && sent && len(o.dryRun) == 0:
		// An earlier try was stored, and its answer lost: this rejection is about the object that it made.
		if now == nil {
			now = o.before
		}
		return answer{outcome: Accepted, object: now, lost: true, sent: true, warnings: a.warnings}
	case found == ours && o.removes && (o.among || a.status.Code == http.StatusNotFound):
		a.note = "the object is gone; another client deleted it meanwhile"
	case found == ours && others != "":
		a.doubt = what + ": " + others
	case found == ours:
		a.stored, a.note, a.object = true, what, now
	case found == doubtful:
		a.doubt = what
	default:
		a.note = what
	}
	return a
}

// trace is how a write shows in what is stored.
type trace int

const (
	// none: this step changed nothing.
	none trace = iota
	// ours: this step changed something.
	ours
	// doubtful: something was changed, and it is unknown by whom.
	doubtful
)

// trace looks in the object for what this step changed, and for what another client changed meanwhile.
func (o *operation) trace(now *unstructured.Unstructured) (found trace, what string) {
	switch {
	case o.removes:
		if isGone(o.before, now) {
			return ours, asIfAccepted
		}
		return none, ""
	case o.creates():
		switch {
		case now != nil && wroteBy(now, o.manager):
			return ours, ""
		case now != nil && !o.among && o.there.isNew(now):
			return doubtful, strange(now)
		}
		return none, ""
	}
	return o.change(now)
}

// change compares what a write would have changed with its state before.
func (o *operation) change(now *unstructured.Unstructured) (found trace, what string) {
	switch {
	case now == nil && o.before == nil:
		return none, ""
	case now == nil:
		return none, "the object is gone; another client deleted it meanwhile"
	case !o.looked && o.manager == ApplyManager && len(o.share(now)) > 0:
		return doubtful, "an earlier attempt may have been stored, and what is stored may also be of an earlier apply"
	case o.before != nil && now.GetResourceVersion() == o.before.GetResourceVersion():
		if !reflect.DeepEqual(now.Object, o.before.Object) {
			return ours, "the object differs from before, although its resourceVersion is the same"
		}
		return none, ""
	case !reflect.DeepEqual(o.share(o.before), o.share(now)):
		return ours, ""
	case len(now.GetManagedFields()) == 0 && !o.among:
		return doubtful, "the object was changed meanwhile, and has no managed fields that show by whom"
	}
	return none, "another client changed the object meanwhile; this step changed nothing"
}

// share returns the managed fields of the object for this step's field manager.
func (o *operation) share(object *unstructured.Unstructured) []metav1.ManagedFieldsEntry {
	var share []metav1.ManagedFieldsEntry
	if object == nil {
		return nil
	}
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == o.manager {
			share = append(share, entry)
		}
	}
	return share
}
