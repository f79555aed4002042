package simulator

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// recreateGroup recreates a group in which a container has restarted: it deletes everything in the group, and then the
// leader. The leaders' StatefulSet creates the leader again.
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
	if r.behaviour.Has(faultRecreateOrphans) {
		propagation = metav1.DeletePropagationOrphan
	}
	err := r.client.Delete(ctx, leader, client.Preconditions{UID: &leader.UID}, client.PropagationPolicy(propagation))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete leader %s to recreate its group: %w", leader.Name, err)
	}
	return nil
}

// goneWorkers are deleted workers whose groups were not recreated yet. A pod may disappear immediately: then no
// reconcile sees it marked as deleted, or it sees another pod with its name.
type goneWorkers struct {
	mu     sync.Mutex
	byName map[client.ObjectKey][]*corev1.Pod
}

func newGoneWorkers() *goneWorkers { return &goneWorkers{byName: map[client.ObjectKey][]*corev1.Pod{}} }

// handler records deleted workers, and triggers their reconcile.
func (g *goneWorkers) handler() handler.EventHandler {
	return handler.Funcs{DeleteFunc: func(_ context.Context, e event.DeleteEvent,
		queue workqueue.TypedRateLimitingInterface[reconcile.Request],
	) {
		pod, ok := e.Object.(*corev1.Pod)
		if !ok || isLeader(pod) || pod.Labels[api.LabelName] == "" {
			return
		}
		key := client.ObjectKeyFromObject(pod)
		g.put(key, pod)
		queue.Add(reconcile.Request{NamespacedName: key})
	}}
}

func (g *goneWorkers) put(key client.ObjectKey, pods ...*corev1.Pod) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.byName[key] = append(g.byName[key], pods...)
}

func (g *goneWorkers) take(key client.ObjectKey) []*corev1.Pod {
	g.mu.Lock()
	defer g.mu.Unlock()
	pods := g.byName[key]
	delete(g.byName, key)
	return pods
}

// recreateGroupsOfGone recreates the groups of deleted workers of that name, unless the recreation already began when
// they were marked as deleted.
func (r *podReconciler) recreateGroupsOfGone(ctx context.Context, key client.ObjectKey) error {
	pods := r.gone.take(key)
	for i, pod := range pods {
		var set api.LeaderWorkerSet
		err := r.client.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: pod.Labels[api.LabelName]}, &set)
		if err == nil && set.DeletionTimestamp == nil {
			marked := pod.DeepCopy()
			marked.DeletionTimestamp = &metav1.Time{Time: time.Now()}
			err = r.recreateGroup(ctx, &set, marked)
		}
		if client.IgnoreNotFound(err) != nil {
			r.gone.put(key, pods[i:]...)
			return err
		}
	}
	return nil
}

// leaderOf is the leader of a worker, or nil if the group is already being deleted. It does not use the cache, in which
// the leader may be stale.
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

// controllerOf reads an object's controller. It returns not found if the controller is being deleted.
func (r *podReconciler) controllerOf(ctx context.Context, object client.Object, kind string,
	controller client.Object,
) (bool, error) {
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

// restarted reports whether a container of a running pod has restarted.
func restarted(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodRunning && pod.Status.Phase != corev1.PodPending {
		return false
	}
	return slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses),
		func(s corev1.ContainerStatus) bool {
			return s.RestartCount > 0
		})
}
