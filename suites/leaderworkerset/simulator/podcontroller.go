package simulator

import (
	"context"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// podReconciler creates the Service and the workers' StatefulSet of a group once its leader exists.
type podReconciler struct {
	client    client.Client
	live      client.Reader // reads without the cache
	events    events.EventRecorder
	behaviour behaviour
	revisions *revisions
	gone      *goneWorkers
}

// in returns the reconciler for the objects of a namespace.
func (r *podReconciler) in(namespace string) *podReconciler {
	there := *r
	there.behaviour, there.revisions = r.behaviour.in(namespace), r.revisions.in(namespace)
	return &there
}

// Reconcile implements reconcile.Reconciler.
func (r *podReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	r = r.in(request.Namespace)
	if err := r.recreateGroupsOfGone(ctx, request.NamespacedName); err != nil && ctx.Err() == nil {
		return reconcile.Result{}, err
	}
	var pod corev1.Pod
	if err := r.client.Get(ctx, request.NamespacedName, &pod); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var set api.LeaderWorkerSet
	key := client.ObjectKey{Namespace: pod.Namespace, Name: pod.Labels[api.LabelName]}
	if err := r.client.Get(ctx, key, &set); err != nil || set.DeletionTimestamp != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	return r.behaviour.result(ctx, r.events, &pod, r.reconcile(ctx, &set, &pod))
}

func (r *podReconciler) reconcile(ctx context.Context, set *api.LeaderWorkerSet, pod *corev1.Pod) error {
	if err := r.recreateGroup(ctx, set, pod); err != nil {
		return err
	}
	if !isLeader(pod) {
		if r.behaviour.Has(faultWorkersMakeServices) && pod.DeletionTimestamp == nil {
			return r.ensureOwned(ctx, pod, r.behaviour.replicaService(set, pod), &corev1.Service{})
		}
		return nil
	}
	// A leader that is being deleted gets no new objects: they would have to be deleted again.
	if pod.DeletionTimestamp != nil && !r.behaviour.Has(faultServicesForTerminating) {
		return nil
	}
	// The leader's revision determines everything in a group, even if the LeaderWorkerSet has changed since.
	of, err := r.revisions.named(ctx, pod.Namespace, set.Name, pod.Labels[api.LabelRevision])
	if err != nil {
		return err
	}
	service, workers := r.ensureService, r.ensureWorkers
	if r.behaviour.Liberties.Takes(libertyWorkersFirst) {
		service, workers = workers, service
	}
	if err := service(ctx, set, pod, of); err != nil {
		return err
	}
	return workers(ctx, set, pod, of)
}

// ensureService creates a leader's Service, if it should have one.
func (r *podReconciler) ensureService(ctx context.Context, set *api.LeaderWorkerSet, leader *corev1.Pod,
	of *revision,
) error {
	if !r.wantsService(set, leader, of) {
		return nil
	}
	if r.behaviour.Has(faultServiceMadeOnce) {
		if has, err := r.hasWorkers(ctx, leader); err != nil || has {
			return err
		}
	}
	return r.ensureOwned(ctx, leader, r.behaviour.replicaService(set, leader), &corev1.Service{})
}

// hasWorkers reports whether a leader has the StatefulSet of its workers. Only a fault asks.
func (r *podReconciler) hasWorkers(ctx context.Context, leader *corev1.Pod) (bool, error) {
	var workers appsv1.StatefulSet
	err := r.client.Get(ctx, client.ObjectKeyFromObject(leader), &workers)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("read the StatefulSet of the workers of %s: %w", leader.Name, err)
	}
	return err == nil && metav1.IsControlledBy(&workers, leader), nil
}

// ensureWorkers creates the StatefulSet of a group's workers, once it should exist.
func (r *podReconciler) ensureWorkers(ctx context.Context, set *api.LeaderWorkerSet, leader *corev1.Pod,
	of *revision,
) error {
	if of.Template.GroupSize() == 1 || leader.DeletionTimestamp != nil || set.Spec.StartupPolicy == api.LeaderReady &&
		!podReady(leader) {
		return nil
	}
	return r.ensureOwned(ctx, leader, r.behaviour.newWorkerSet(set, leader, of), &appsv1.StatefulSet{})
}

// wantsService reports whether a leader has its own Service.
func (r *podReconciler) wantsService(set *api.LeaderWorkerSet, leader *corev1.Pod, of *revision) bool {
	policy := of.Policy
	if r.behaviour.Has(faultServicesFromLiveSpec) || r.behaviour.Has(faultServicesDroppedAtStart) {
		policy = set.SubdomainPolicy()
	}
	if r.behaviour.Has(faultServicesOnChange) && set.SubdomainPolicy() == api.SubdomainUniquePerReplica {
		policy = api.SubdomainUniquePerReplica
	}
	index, _ := strconv.Atoi(leader.Labels[api.LabelGroupIndex])
	switch {
	case policy != api.SubdomainUniquePerReplica:
		return false
	case r.behaviour.Has(faultLastWithoutService) && index == int(set.Replicas())-1:
		return false
	case r.behaviour.Has(faultSurgeWithoutServices) && index >= int(set.Replicas()):
		return false
	case r.behaviour.Has(faultSurgeOneService) && index > int(set.Replicas()):
		return false
	case r.behaviour.Has(faultSizeOneWithoutService) && of.Template.GroupSize() == 1:
		return false
	}
	return true
}

// ensureOwned creates an object that a pod owns, if it does not exist. If there is one that belongs to an earlier pod
// of the same name, ensureOwned deletes it. That deletion triggers another reconcile of the pod.
func (r *podReconciler) ensureOwned(ctx context.Context, pod *corev1.Pod, want, have client.Object) error {
	err := r.client.Get(ctx, client.ObjectKeyFromObject(want), have)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read %T %s: %w", have, want.GetName(), err)
	}
	there := err == nil
	if there && (owned(want, have) || r.behaviour.Has(faultServicesByNameOnly)) {
		return nil
	}
	// The cache may be stale. An object for a deleted pod would be garbage collected at once. Users would see a Service
	// that appears and disappears.
	var now corev1.Pod
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(pod), &now); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read pod %s: %w", pod.Name, err)
	}
	if now.UID != pod.UID || now.DeletionTimestamp != nil && !r.behaviour.Has(faultServicesForTerminating) {
		return nil
	}
	if !there {
		return createOwned(ctx, r.client, r.live, want)
	}
	return r.removeLeftover(ctx, pod, have)
}

// removeLeftover deletes an object that belongs to an earlier pod of the same name. Other objects are not deleted.
func (r *podReconciler) removeLeftover(ctx context.Context, pod *corev1.Pod, have client.Object) error {
	owner := metav1.GetControllerOf(have)
	if owner == nil || owner.Kind != "Pod" || owner.Name != pod.Name {
		return &occupiedError{object: have}
	}
	if have.GetDeletionTimestamp() == nil {
		uid := have.GetUID()
		err := r.client.Delete(ctx, have, client.Preconditions{UID: &uid},
			client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete %T %s of the pod before: %w", have, have.GetName(), err)
		}
	}
	if r.behaviour.Liberties.Takes(libertyErrorsMeanwhile) {
		return &occupiedError{object: have}
	}
	return nil
}
