package simulator

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/rehearse-dev/rehearse/suites/grove/api"
	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
)

// gangReconciler is the Backend Controller: it makes the backend of each PodGang create its resources.
type gangReconciler struct {
	store
	selection
	// known are the PodGangs as they were last seen, to tell their backends of their deletion.
	known sync.Map
}

// Reconcile implements reconcile.Reconciler.
func (r *gangReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var gang scheduler.PodGang
	err := r.live.Get(ctx, request.NamespacedName, &gang)
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, r.deleted(ctx, request.NamespacedName)
	}
	if err != nil || gang.DeletionTimestamp != nil {
		return reconcile.Result{}, err
	}
	backend := r.in(gang.Namespace).named(gang.Labels[api.LabelSchedulerName])
	if backend == nil {
		log.FromContext(ctx).Info("the backend is not enabled", "podGang", request, "backend",
			gang.Labels[api.LabelSchedulerName])
		return reconcile.Result{}, nil
	}
	r.known.Store(request.NamespacedName, gang.DeepCopy())
	if r.tooEarly(ctx, &gang) {
		return reconcile.Result{RequeueAfter: laterPause}, nil
	}
	if err := backend.SyncPodGang(ctx, &gang); err != nil {
		return reconcile.Result{}, fmt.Errorf("backend %s: %w", backend.Name(), err)
	}
	if r.behaviour.Variant == VariantBefore {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, r.setCondition(ctx, request.NamespacedName, metav1.Condition{
		Type: scheduler.ConditionSynced, Status: metav1.ConditionTrue, Reason: scheduler.ReasonSynced,
		ObservedGeneration: gang.Generation,
		Message:            "backend " + backend.Name() + " has created its resources",
	})
}

// deleted tells the backend that a PodGang was deleted.
func (r *gangReconciler) deleted(ctx context.Context, key client.ObjectKey) error {
	value, ok := r.known.LoadAndDelete(key)
	if !ok {
		return nil // deleted while the operator was down: its dependents are garbage collected
	}
	gang := value.(*scheduler.PodGang)
	backend := r.in(gang.Namespace).named(gang.Labels[api.LabelSchedulerName])
	if backend == nil {
		return nil
	}
	if err := backend.OnPodGangDelete(ctx, gang); err != nil {
		r.known.Store(key, gang)
		return fmt.Errorf("backend %s: %w", backend.Name(), err)
	}
	return nil
}
