package survey

import (
	"context"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scale writes the scale as it is.
func (p *probe) scale(ctx context.Context) error {
	scale, err := p.api.Get(ctx, p.target.Name, metav1.GetOptions{}, "scale")
	if err != nil {
		return err
	}
	_, err = p.api.Update(ctx, scale, metav1.UpdateOptions{DryRun: everything, FieldManager: Manager}, "scale")
	return err
}

// evict asks a pod to go. That its disruption budget does not allow it at the moment is an answer as good as another.
func (p *probe) evict(ctx context.Context) error {
	eviction := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": policyv1.SchemeGroupVersion.String(), "kind": "Eviction",
		"metadata":      map[string]any{"name": p.target.Name, "namespace": p.target.Namespace},
		"deleteOptions": map[string]any{"dryRun": []any{metav1.DryRunAll}},
	}}
	_, err := p.api.Create(ctx, eviction, metav1.CreateOptions{DryRun: everything, FieldManager: Manager}, "eviction")
	if apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause) {
		return nil
	}
	return err
}
