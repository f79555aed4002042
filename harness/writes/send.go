package writes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// staleError is a conflict about a resourceVersion that the step did not set: another client wrote in between.
type staleError struct{ cause error }

func (e *staleError) Error() string {
	return "another client wrote the object meanwhile: " + e.cause.Error()
}

// unsentError is a failure before the write was sent: it says nothing about the write.
type unsentError struct{ cause error }

func (e *unsentError) Error() string { return e.cause.Error() }

func sendCreate(ctx context.Context, api dynamic.ResourceInterface, op *operation) (*unstructured.Unstructured, error) {
	return api.Create(ctx, op.body(), metav1.CreateOptions{
		FieldManager: op.manager, DryRun: op.dryRun,
		FieldValidation: op.validation,
	})
}

func sendApply(ctx context.Context, api dynamic.ResourceInterface, op *operation) (*unstructured.Unstructured, error) {
	data, err := op.body().MarshalJSON()
	if err != nil {
		return nil, &unsentError{fmt.Errorf("write the object as JSON: %w", err)}
	}
	force := true
	return api.Patch(ctx, op.name, types.ApplyPatchType, data,
		metav1.PatchOptions{FieldManager: op.manager, Force: &force, DryRun: op.dryRun, FieldValidation: op.validation})
}

func sendUpdate(ctx context.Context, api dynamic.ResourceInterface, op *operation) (*unstructured.Unstructured, error) {
	options := metav1.UpdateOptions{FieldManager: op.manager, DryRun: op.dryRun, FieldValidation: op.validation}
	body := op.body()
	if body.GetResourceVersion() != "" {
		return api.Update(ctx, body, options)
	}
	stored, err := api.Get(ctx, op.name, metav1.GetOptions{})
	op.upserts = absent(err)
	switch {
	case op.upserts:
		// The API server must decide what an update of a missing object is.
		return api.Update(ctx, body, options)
	case err != nil:
		return nil, &unsentError{fmt.Errorf("read %s before its update: %w", op.name, err)}
	}
	updated, err := api.Update(ctx, withMetadata(body, "resourceVersion", stored.GetResourceVersion()), options)
	if uid := body.GetUID(); uid != "" && uid != stored.GetUID() {
		return updated, err // the conflict is about the uid, and lasts
	}
	return updated, outrun(err)
}

// outrun returns a staleError if the API server says that another client wrote the object. A rejection by a webhook
// or a policy, which may choose its code, is none.
func outrun(err error) error {
	if status, ok := StatusOf(err); ok && apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) &&
		rejectedBy(status).by == "" {
		return &staleError{err}
	}
	return err
}

func (o *operation) setPatch(patch scenarios.Patch) error {
	if err := o.setReference(patch.ObjectReference); err != nil {
		return err
	}
	kind, content := types.MergePatchType, any(patch.Merge)
	switch {
	case patch.JSON != nil:
		kind, content = types.JSONPatchType, patch.JSON
	case patch.Strategic != nil:
		kind, content = types.StrategicMergePatchType, patch.Strategic
	case patch.Merge == nil:
		return fmt.Errorf("nothing to patch: set merge, json or strategic")
	}
	return o.patchWith(kind, content, patch.Subresource)
}

func (o *operation) setScale(scale scenarios.Scale) error {
	if err := o.setReference(scale.ObjectReference); err != nil {
		return err
	}
	o.repeatable = true
	content := map[string]any{"spec": map[string]any{"replicas": scale.Replicas}}
	return o.patchWith(types.MergePatchType, content, "scale")
}

func (o *operation) patchWith(kind types.PatchType, content any, subresource string) error {
	data, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("write the patch as JSON: %w", err)
	}
	var sent any
	if err := utiljson.Unmarshal(data, &sent); err != nil {
		return fmt.Errorf("read the patch from JSON: %w", err)
	}
	o.subresource = subresource
	switch sent := sent.(type) {
	case map[string]any:
		o.sent, o.patched = whole(sent), slices.Sorted(maps.Keys(sent))
	case []any:
		o.patched = touched(sent)
		o.sent = func(map[string]any) []piece { return setBy(sent) }
	}
	var subresources []string
	if subresource != "" {
		subresources = []string{subresource}
	}
	o.send = func(ctx context.Context, api dynamic.ResourceInterface, op *operation) (*unstructured.Unstructured, error) {
		patched, err := api.Patch(ctx, op.name, kind, data, metav1.PatchOptions{
			FieldManager: op.manager, DryRun: op.dryRun,
			FieldValidation: op.validation,
		}, subresources...)
		if bytes.Contains(data, []byte("resourceVersion")) {
			return patched, err
		}
		return patched, outrun(err)
	}
	return nil
}

func (o *operation) setEvict(evict scenarios.Evict) error {
	o.gvk = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	o.name, o.namespace = evict.Name, evict.Namespace
	o.send = func(ctx context.Context, api dynamic.ResourceInterface, op *operation) (*unstructured.Unstructured, error) {
		eviction := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "policy/v1",
			"kind":       "Eviction",
			"metadata":   map[string]any{"name": op.name},
		}}
		pod, err := op.pin(ctx, api)
		if err != nil {
			return nil, err
		}
		if _, err := api.Create(ctx, eviction, metav1.CreateOptions{DryRun: op.dryRun}, "eviction"); err != nil {
			return nil, err
		}
		return pod, nil
	}
	return nil
}
