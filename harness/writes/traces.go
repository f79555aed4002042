package writes

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// landed says whether a try whose answer was lost was stored: the object then carries this step's field manager, or, for a deletion, is
// gone or going.
func (o *operation) landed(ctx context.Context, api dynamic.ResourceInterface) (*unstructured.Unstructured, bool, error) {
	if len(o.dryRun) > 0 {
		return nil, false, nil
	}
	object, err := o.look(ctx, api)
	if err != nil {
		return nil, false, err
	}
	if o.verb == "delete" || o.verb == "evict" {
		if o.before == nil {
			return nil, false, nil
		}
		return o.before, object == nil || object.GetUID() != o.uid || (object.GetDeletionTimestamp() != nil && o.before.GetDeletionTimestamp() == nil), nil
	}
	return object, object != nil && wroteBy(object, o.manager), nil
}

// look reads the object; nil when it is not there. One with a generated name is found by this step's field manager.
func (o *operation) look(ctx context.Context, api dynamic.ResourceInterface) (*unstructured.Unstructured, error) {
	if o.name == "" {
		return o.lookGenerated(ctx, api)
	}
	object, err := api.Get(ctx, o.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return object, err
}

func (o *operation) lookGenerated(ctx context.Context, api dynamic.ResourceInterface) (*unstructured.Unstructured, error) {
	list, err := api.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		if strings.HasPrefix(list.Items[i].GetName(), o.generateName) && wroteBy(&list.Items[i], o.manager) {
			return &list.Items[i], nil
		}
	}
	return nil, nil
}

// lookBefore keeps the object as it is before the write, where that is needed: to see that a refused change stored nothing, and to
// tell an apply that makes an object from one that changes it.
func (w *Writer) lookBefore(ctx context.Context, op *operation, step *scenarios.Step, sent bool) error {
	outside := op.verb == "apply" && (!op.kind.Namespaced || op.namespaceOf(w) != w.Namespace)
	changes := op.verb == "update" || op.verb == "patch" || op.verb == "scale" || op.verb == "apply"
	if sent || !(outside || changes && wanted(step) != nil) {
		return nil
	}
	before, err := op.look(ctx, op.api(w))
	if err != nil {
		return fmt.Errorf("read %s before the write: %w", op.name, err)
	}
	op.before, op.existed = before, before != nil
	return nil
}

// verify makes sure that a refused write stored nothing. It tries until it could look, and gives an unknown outcome if it never could.
func (w *Writer) verify(ctx context.Context, op *operation, step *scenarios.Step, a answer, sent bool) answer {
	if len(op.dryRun) > 0 || op.verb == "list" || (wanted(step) == nil && !sent) {
		return a
	}
	pauses := w.pauses()
	for {
		now, err := op.look(ctx, op.api(w))
		if err == nil {
			return op.afterRefusal(a, now, sent)
		}
		if !pause(ctx, pauses) {
			refusal := a.status.Message
			return answer{sent: true, err: fmt.Errorf("was refused (%s), but nobody could look whether nothing was stored: %w", refusal, err)}
		}
	}
}

// afterRefusal compares the object after a refusal with the one before.
func (o *operation) afterRefusal(a answer, now *unstructured.Unstructured, sent bool) answer {
	ours, note := o.trace(now)
	switch {
	case ours && sent:
		// An earlier try was stored, and its answer lost: this refusal is about the object that it made.
		return answer{outcome: Accepted, object: now, lost: true, sent: true, warnings: a.warnings}
	case ours:
		a.stored, a.object = true, now
	}
	a.note = note
	return a
}

// trace says whether the object shows that this step changed it, and otherwise what somebody else did to it meanwhile.
func (o *operation) trace(now *unstructured.Unstructured) (ours bool, note string) {
	switch o.verb {
	case "delete", "evict":
		if o.before != nil && (now == nil || now.GetUID() != o.uid || (now.GetDeletionTimestamp() != nil && o.before.GetDeletionTimestamp() == nil)) {
			return false, "the object is gone or terminating nevertheless; somebody else may have deleted it"
		}
		return false, ""
	case "create":
		return now != nil && wroteBy(now, o.manager), ""
	}
	switch {
	case now == nil && o.before == nil:
		return false, ""
	case now == nil:
		return false, "the object is gone; somebody else deleted it meanwhile"
	case o.before != nil && now.GetResourceVersion() == o.before.GetResourceVersion():
		return false, ""
	case !reflect.DeepEqual(o.share(o.before), o.share(now)):
		return true, ""
	}
	return false, "somebody else changed the object meanwhile, and this step changed nothing of it"
}

// share is what the object's managed fields say about this step's field manager.
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
