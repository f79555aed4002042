package simulator

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// recreateGroup deletes the leader of a group in which something restarted, and with it, before it, all that the group has.
// The leaders' StatefulSet makes the leader again.
func (r *podReconciler) recreateGroup(ctx context.Context, set *api.LeaderWorkerSet, pod *corev1.Pod) error {
	if set.Spec.LeaderWorkerTemplate.RestartPolicy == api.RestartNone {
		return nil
	}
	leader := pod
	switch {
	case isLeader(pod):
		if pod.DeletionTimestamp != nil || !restarted(pod) {
			return nil
		}
	case pod.DeletionTimestamp != nil || restarted(pod):
		var err error
		if leader, err = r.leaderOf(ctx, pod); err != nil || leader == nil {
			return err
		}
	default:
		return nil
	}
	propagation := metav1.DeletePropagationForeground
	if r.behaviour.has(faultRecreateOrphans) {
		propagation = metav1.DeletePropagationOrphan
	}
	err := r.client.Delete(ctx, leader, client.Preconditions{UID: &leader.UID}, client.PropagationPolicy(propagation))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete leader %s to recreate its group: %w", leader.Name, err)
	}
	return nil
}

// leaderOf is the leader of a worker whose group is not on its way out already, or nil. It looks past the cache, which may not
// know yet that the leader was replaced.
func (r *podReconciler) leaderOf(ctx context.Context, worker *corev1.Pod) (*corev1.Pod, error) {
	workers, leader := &appsv1.StatefulSet{}, &corev1.Pod{}
	if found, err := r.controllerOf(ctx, worker, "StatefulSet", workers); err != nil || !found {
		return nil, err
	}
	if found, err := r.controllerOf(ctx, workers, "Pod", leader); err != nil || !found {
		return nil, err
	}
	return leader, nil
}

// controllerOf reads an object's controller; it is not found when it is being deleted.
func (r *podReconciler) controllerOf(ctx context.Context, object client.Object, kind string, controller client.Object) (bool, error) {
	ref := metav1.GetControllerOf(object)
	if ref == nil || ref.Kind != kind {
		return false, nil
	}
	err := r.live.Get(ctx, client.ObjectKey{Namespace: object.GetNamespace(), Name: ref.Name}, controller)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("read %s %s: %w", kind, ref.Name, err)
	}
	return err == nil && controller.GetUID() == ref.UID && controller.GetDeletionTimestamp() == nil, nil
}

// restarted tells whether a container of a pod that is not done did.
func restarted(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodRunning && pod.Status.Phase != corev1.PodPending {
		return false
	}
	return slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(s corev1.ContainerStatus) bool {
		return s.RestartCount > 0
	})
}
