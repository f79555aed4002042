package survey

import (
	"context"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/writes"
)

// subresources are those that an object has had.
type subresources struct{ scale, status bool }

// resize writes the scale unchanged. A custom resource without a number of replicas has no scale, and the check does
// not apply to it; but if it had a scale at an earlier state, a missing scale is a failure.
func (p *probe) resize(ctx context.Context) {
	note, none := p.note, ""
	p.note = func(check Check, o Outcome) {
		switch {
		case none == "":
			note(check, o)
		case p.had.scale:
			note(check, Outcome{Answer: Bad, Words: none})
		}
	}
	p.write(ctx, Scale, func(ctx context.Context) error {
		scale, err := p.api.Get(ctx, p.target.Name, metav1.GetOptions{}, "scale")
		if p.unsized(ctx, err) {
			none = writes.Words(err)
			return nil
		}
		if err != nil {
			return err
		}
		p.had.scale = true
		_, err = p.api.Update(ctx, scale, metav1.UpdateOptions{DryRun: everything, FieldManager: Manager}, "scale")
		return err
	})
	p.note = note
}

// unsized reports whether the scale cannot be read because the object has no number of replicas. The API server
// reports that with 404 or 500.
func (p *probe) unsized(ctx context.Context, err error) bool {
	if err == nil {
		return false
	}
	if strings.Contains(writes.Words(err), "replicas field") && strings.Contains(writes.Words(err), "does not exist") {
		return true
	}
	if !apierrors.IsNotFound(err) {
		return false
	}
	_, err = p.api.Get(ctx, p.target.Name, metav1.GetOptions{})
	return err == nil
}

// evict evicts a pod. A rejection because of a disruption budget is fine: the API server could judge the eviction.
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
	if err != nil && strings.Contains(writes.Words(err), severalBudgets) {
		// The API server works: it rejects this eviction.
		return apierrors.NewForbidden(policyv1.Resource("evictions"), p.target.Name, err)
	}
	return err
}

// severalBudgets is in the API server's answer to each eviction of a pod that several disruption budgets select. Its
// code is 500. Source: k8s.io/kubernetes, pkg/registry/core/pod/storage/eviction.go.
const severalBudgets = "more than one PodDisruptionBudget"
