package writes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func (o *operation) setDelete(d scenarios.Delete) error {
	if err := o.setReference(d.ObjectReference); err != nil {
		return err
	}
	options := metav1.DeleteOptions{}
	if d.Propagation != "" {
		policy := metav1.DeletionPropagation(d.Propagation)
		options.PropagationPolicy = &policy
	}
	o.send = func(ctx context.Context, api dynamic.ResourceInterface, op *operation) (*unstructured.Unstructured, error) {
		target, err := op.pin(ctx, api)
		if err != nil {
			return nil, err
		}
		options := options
		options.DryRun = op.dryRun
		if target != nil {
			uid := target.GetUID()
			options.Preconditions = &metav1.Preconditions{UID: &uid}
		}
		err = api.Delete(ctx, op.name, options)
		var stale *staleError
		if target != nil && errors.As(outrun(err), &stale) {
			op.uid, op.before = "", nil
			return nil, stale
		}
		return target, err
	}
	if d.Wait == nil || *d.Wait {
		o.settle = func(ctx context.Context, w *Writer, op *operation) error {
			return location{w.Client, op.api(w), op.kind.Resource, op.name}.untilGone(ctx, op.uid)
		}
	}
	return nil
}

// pin notes which object is meant, so that another one of its name is not mistaken for it. It returns nil if there is
// none.
func (o *operation) pin(ctx context.Context, api dynamic.ResourceInterface) (*unstructured.Unstructured, error) {
	object, err := api.Get(ctx, o.name, metav1.GetOptions{})
	switch {
	case absent(err):
		return nil, nil
	case err != nil:
		return nil, &unsentError{fmt.Errorf("read %s before its deletion: %w", o.name, err)}
	}
	o.uid, o.before = object.GetUID(), object
	return object, nil
}

// deleteAll deletes all objects that a selector selects, one after the other.
func (w *Writer) deleteAll(ctx context.Context, request Request) Verdict {
	d := *request.Step.Delete
	op := &operation{verb: "list", repeatable: true}
	if err := op.setReference(d.ObjectReference); err != nil {
		return Verdict{Status: reports.Error, Message: "delete: " + err.Error()}
	}
	selector := labels.SelectorFromSet(d.Selector).String()
	var found []unstructured.Unstructured
	op.send = func(ctx context.Context, api dynamic.ResourceInterface, _ *operation) (*unstructured.Unstructured, error) {
		list, err := api.List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err == nil {
			found = list.Items
		}
		return nil, err
	}
	answer := w.decide(ctx, op, Request{Step: &scenarios.Step{}, Attempt: request.Attempt})
	if answer.outcome != Accepted {
		return w.compare(ctx, op, request.Step, answer)
	}
	if len(found) == 0 {
		return Verdict{Status: reports.Failed, Message: fmt.Sprintf("delete %s: no object has the labels %s, so "+
			"nothing was deleted", d.Kind, selector)}
	}
	return w.deleteEach(ctx, request, found)
}

func (w *Writer) deleteEach(ctx context.Context, request Request, found []unstructured.Unstructured) Verdict {
	var evidence []string
	for _, object := range found {
		one := *request.Step.Delete
		one.Selector, one.Name, one.Namespace = nil, object.GetName(), object.GetNamespace()
		step := *request.Step
		step.Delete = &one
		verdict := w.Do(ctx, Request{Step: &step, Manager: request.Manager, Attempt: request.Attempt})
		if verdict.gone { // something else deleted it since the list, for example with its owner
			verdict.Status, verdict.Evidence = reports.Passed, object.GetName()+" was gone already"
		}
		if verdict.Status != reports.Passed {
			return verdict
		}
		evidence = append(evidence, verdict.Evidence)
	}
	return Verdict{Status: reports.Passed, Evidence: strings.Join(evidence, "\n")}
}

// StillThereError says that an object was not gone at the timeout.
type StillThereError struct {
	Name       string
	Finalizers []string
	// Reasons are what the conditions of a namespace, or of a CRD, say about what is left of its content.
	Reasons  []string
	Deleting bool
}

// Error names what keeps the object.
func (e *StillThereError) Error() string {
	switch {
	case len(e.Reasons) > 0:
		return fmt.Sprintf("%s is not gone: %s", e.Name, strings.Join(e.Reasons, " "))
	case len(e.Finalizers) > 0:
		return fmt.Sprintf("%s is not gone: its finalizers are still there: %s", e.Name, strings.Join(e.Finalizers, ", "))
	case e.Deleting:
		return fmt.Sprintf("%s is not gone: it has no finalizers, but is still terminating", e.Name)
	default:
		return fmt.Sprintf("%s is not gone: it has no deletionTimestamp", e.Name)
	}
}

// Queued reports whether an object is being deleted, and nothing is known that holds it.
func (e *StillThereError) Queued() bool {
	return e.Deleting && len(e.Finalizers) == 0 && !slices.ContainsFunc(e.Reasons, holds)
}

// holds reports whether a reason of a namespace is more than that the namespace controller is not done yet: these are
// its texts while pods terminate, and while a busy API server needs more than a request's minute for thousands of
// Events, of which it deletes a part each time (namespaced_resources_deleter.go, condition_utils.go).
func holds(reason string) bool {
	for _, text := range []string{
		"unexpected items still remain", "unable to return a response in the time allotted", "stream error: stream ID",
	} {
		if strings.Contains(reason, text) {
			return false
		}
	}
	return !strings.HasPrefix(reason, "Some resources are remaining")
}

// untilGone waits with a watch until the object with that UID is gone; one of another UID counts as gone. The error
// is a *StillThereError if the object existed when time was up, and any other error if that is unknown.
func (l location) untilGone(ctx context.Context, uid types.UID) error {
	var last error
	again := (&Writer{}).pauses()
	for {
		object, since, err := l.look(ctx)
		switch {
		case l.absent(ctx, err):
			return nil
		case err == nil && (object == nil || uid != "" && object.GetUID() != uid):
			return nil
		case err == nil:
			last = stillThere(object)
			gone, seen := watchGone(ctx, l.api, object, since)
			if gone {
				return nil
			}
			if seen != nil {
				last = stillThere(seen)
			}
		case ctx.Err() == nil:
			last = err
		}
		if !pauses.Wait(ctx, again) {
			return l.lastly(ctx, uid, last)
		}
	}
}

// lastLookWithin is how long the API server may take to answer after the time is up.
const lastLookWithin = 10 * time.Second

// lastly looks once more when the time is up, since the last look may be old. last is what it found.
func (l location) lastly(ctx context.Context, uid types.UID, last error) error {
	if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return stillThereOr(ctx, l.name, last)
	}
	now, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLookWithin)
	defer cancel()
	switch object, err := l.api.Get(now, l.name, metav1.GetOptions{}); {
	case l.absent(now, err), err == nil && uid != "" && object.GetUID() != uid:
		return nil
	case err == nil:
		return stillThere(object)
	default:
		return stillThereOr(ctx, l.name, err)
	}
}

// look returns the object, or nil, and the resource version of the collection from which a watch can go on. A watch
// from the object's own version ends at once if that is too old, which many changes of other objects make it.
func (l location) look(ctx context.Context) (object *unstructured.Unstructured, since string, err error) {
	object, err = l.api.Get(ctx, l.name, metav1.GetOptions{})
	if err != nil {
		return nil, "", err
	}
	list, err := l.api.List(ctx, metav1.ListOptions{
		FieldSelector: byName(l.name),
		// The API server's cache may answer at once: it need not be newer than the object.
		ResourceVersion: object.GetResourceVersion(), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if err != nil {
		return nil, "", err
	}
	i := slices.IndexFunc(list.Items, func(o unstructured.Unstructured) bool { return o.GetName() == l.name })
	if i < 0 {
		return nil, "", nil
	}
	return &list.Items[i], list.GetResourceVersion(), nil
}

func byName(name string) string { return fields.OneTermEqualSelector("metadata.name", name).String() }

// stillThereOr returns what was known last when the waiting ended.
func stillThereOr(ctx context.Context, name string, last error) error {
	switch {
	case last == nil:
		last = context.Cause(ctx)
	case isStillThere(last):
		return last
	}
	return fmt.Errorf("it is unknown whether %s is gone: %w", name, last)
}

// watchGone waits until the object is deleted or the watch ends, and returns the object as it was last seen.
func watchGone(ctx context.Context, api dynamic.ResourceInterface, object *unstructured.Unstructured, since string) (
	bool, *unstructured.Unstructured,
) {
	watcher, err := api.Watch(ctx, metav1.ListOptions{FieldSelector: byName(object.GetName()), ResourceVersion: since})
	if err != nil {
		return false, nil
	}
	defer watcher.Stop()
	var seen *unstructured.Unstructured
	for {
		select {
		case <-ctx.Done():
			return false, seen
		case event, open := <-watcher.ResultChan():
			if !open || event.Type == watch.Error {
				return false, seen
			}
			current, ok := event.Object.(*unstructured.Unstructured)
			if !ok || current.GetName() != object.GetName() {
				continue
			}
			if event.Type == watch.Deleted || current.GetUID() != object.GetUID() {
				return true, nil
			}
			seen = current
		}
	}
}

func stillThere(object *unstructured.Unstructured) *StillThereError {
	return &StillThereError{
		Name:       strings.TrimSpace(object.GetKind() + " " + object.GetName()),
		Finalizers: slices.Clone(object.GetFinalizers()),
		Reasons:    contentReasons(object),
		Deleting:   object.GetDeletionTimestamp() != nil,
	}
}

// contentReasons returns the messages of the conditions that keep a namespace, or a CRD: what is left in it, and with
// which finalizers.
func contentReasons(object *unstructured.Unstructured) []string {
	kind := object.GetKind()
	if kind != "Namespace" && kind != "CustomResourceDefinition" {
		return nil
	}
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	var reasons []string
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		message, _ := condition["message"].(string)
		keeps := kind == "Namespace" || condition["type"] == "Terminating"
		if keeps && condition["status"] == "True" && message != "" {
			reasons = append(reasons, message)
		}
	}
	return reasons
}

func isStillThere(err error) bool {
	var still *StillThereError
	return errors.As(err, &still)
}
