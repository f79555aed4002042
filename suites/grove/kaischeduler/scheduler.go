package kaischeduler

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kaiapi "github.com/rehearse-dev/rehearse/suites/kai/api"
)

// What tells a pod's place.
const (
	annotationPodGroup = "pod-group-name"
	labelSubGroup      = "kai.scheduler/subgroup-name"
)

// scheduler looks at the whole cluster at once, each time.
type scheduler struct {
	client client.Client
	live   client.Reader // past the cache
}

// Reconcile implements reconcile.Reconciler: it binds what can be bound.
func (s *scheduler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	var nodes corev1.NodeList
	var pods corev1.PodList
	var groups kaiapi.PodGroupList
	for _, list := range []client.ObjectList{&groups, &nodes, &pods} {
		if err := s.live.List(ctx, list); err != nil {
			return reconcile.Result{}, fmt.Errorf("list what there is: %w", err)
		}
	}
	room := newRoom(nodes.Items, pods.Items)
	for _, placement := range place(room, pods.Items, groups.Items) {
		if err := s.bind(ctx, placement); err != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, nil
}

func (s *scheduler) bind(ctx context.Context, p placement) error {
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: p.node}}
	binding.Namespace, binding.Name, binding.UID = p.pod.Namespace, p.pod.Name, p.pod.UID
	if err := s.client.SubResource("binding").Create(ctx, p.pod, binding); err != nil {
		return fmt.Errorf("bind pod %s to node %s: %w", client.ObjectKeyFromObject(p.pod), p.node, err)
	}
	return nil
}

// placement is a pod with the node that it gets.
type placement struct {
	pod  *corev1.Pod
	node string
}

// place finds nodes: for the pods of each PodGroup all at once, and for pods without one each for itself.
func place(r *room, pods []corev1.Pod, groups []kaiapi.PodGroup) []placement {
	members := map[client.ObjectKey][]*corev1.Pod{}
	var all []placement
	for i := range pods {
		pod := &pods[i]
		name := pod.Annotations[annotationPodGroup]
		switch {
		case pod.Spec.SchedulerName != Name || pod.DeletionTimestamp != nil:
		case name != "":
			key := client.ObjectKey{Namespace: pod.Namespace, Name: name}
			members[key] = append(members[key], pod)
		case waits(pod):
			if node, ok := r.take(pod); ok {
				all = append(all, placement{pod, node})
			}
		}
	}
	slices.SortFunc(groups, func(a, b kaiapi.PodGroup) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for i := range groups {
		before := r.clone()
		placed, whole := placeGroup(r, &groups[i], members[client.ObjectKeyFromObject(&groups[i])])
		if !whole {
			*r = *before
			continue
		}
		all = append(all, placed...)
	}
	return all
}

// placeGroup finds nodes for the pods of a group. It is whole when each sub group has as many pods with a node as it wants.
func placeGroup(r *room, group *kaiapi.PodGroup, members []*corev1.Pod) (placed []placement, whole bool) {
	have := map[string]int32{}
	for _, pod := range members {
		part := pod.Labels[labelSubGroup]
		if pod.Spec.NodeName == "" {
			node, ok := "", false
			if waits(pod) {
				node, ok = r.take(pod)
			}
			if !ok {
				continue
			}
			placed = append(placed, placement{pod, node})
		}
		have[part]++
	}
	var total int32
	for _, n := range have {
		total += n
	}
	if total < group.Spec.MinMember {
		return nil, false
	}
	for _, part := range group.Spec.SubGroups {
		if have[part.Name] < part.MinMember {
			return nil, false
		}
	}
	return placed, true
}

// waits says whether a pod wants a node and may have one.
func waits(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" && len(pod.Spec.SchedulingGates) == 0 && pod.Status.Phase == corev1.PodPending
}
