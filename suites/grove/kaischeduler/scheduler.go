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

// The metadata that names a pod's PodGroup and sub group.
const (
	annotationPodGroup = "pod-group-name"
	labelSubGroup      = "kai.scheduler/subgroup-name"
)

// scheduler schedules the whole cluster in each reconcile.
type scheduler struct {
	client client.Client
	live   client.Reader // without the cache
}

// Reconcile implements reconcile.Reconciler: it binds all pods that can be bound.
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
	for _, placement := range schedule(room, pods.Items, groups.Items) {
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

// schedule finds nodes: for the pods of each PodGroup together, and for each pod without a PodGroup separately.
func schedule(r *room, pods []corev1.Pod, groups []kaiapi.PodGroup) []placement {
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
			if node, ok := r.take(pod, everywhere); ok {
				all = append(all, placement{pod, node})
			}
		}
	}
	slices.SortFunc(groups, func(a, b kaiapi.PodGroup) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for i := range groups {
		all = append(all, placeGroup(r, &groups[i], members[client.ObjectKeyFromObject(&groups[i])])...)
	}
	return all
}

// part is the pods of a sub group, or the pods without a sub group.
type part struct {
	minMember  int32
	constraint kaiapi.TopologyConstraint
	pods       []*corev1.Pod
}

// partsOf returns the sub groups of a group with their pods, and then the pods without a sub group.
func partsOf(group *kaiapi.PodGroup, members []*corev1.Pod) []part {
	var all []part
	for _, sub := range group.Spec.SubGroups {
		one := part{minMember: sub.MinMember}
		if sub.TopologyConstraint != nil {
			one.constraint = *sub.TopologyConstraint
		}
		for _, pod := range members {
			if pod.Labels[labelSubGroup] == sub.Name {
				one.pods = append(one.pods, pod)
			}
		}
		all = append(all, one)
	}
	var rest part
	for _, pod := range members {
		if !slices.ContainsFunc(group.Spec.SubGroups,
			func(sub kaiapi.SubGroup) bool { return sub.Name == pod.Labels[labelSubGroup] }) {
			rest.pods = append(rest.pods, pod)
		}
	}
	return append(all, rest)
}

// placeGroup finds nodes for the pods of a group, in one place if that is required. If fewer pods fit than the group
// and each of its parts require, it places none.
func placeGroup(r *room, group *kaiapi.PodGroup, members []*corev1.Pod) []placement {
	parts, bound := partsOf(group, members), 0
	for _, pod := range members {
		if pod.Spec.NodeName != "" {
			bound++
		}
	}
	for _, within := range r.places(group.Spec.TopologyConstraint, members, everywhere) {
		attempt := r.clone()
		placed, whole := placeParts(attempt, parts, within)
		if whole && bound+len(placed) >= int(group.Spec.MinMember) {
			*r = *attempt
			return placed
		}
	}
	return nil
}

// placeParts finds nodes for the pods of each part, trying all combinations of the places that the parts may be in.
func placeParts(r *room, parts []part, within place) (placed []placement, whole bool) {
	if len(parts) == 0 {
		return nil, true
	}
	for _, at := range r.places(parts[0].constraint, parts[0].pods, within) {
		attempt, have := r.clone(), int32(0)
		placed = nil
		for _, pod := range parts[0].pods {
			if pod.Spec.NodeName != "" {
				have++
			} else if node, ok := takeIfWaiting(attempt, pod, at); ok {
				placed = append(placed, placement{pod, node})
				have++
			}
		}
		if have < parts[0].minMember {
			continue
		}
		if rest, whole := placeParts(attempt, parts[1:], within); whole {
			*r = *attempt
			return append(placed, rest...), true
		}
	}
	return nil, false
}

func takeIfWaiting(r *room, pod *corev1.Pod, within place) (node string, ok bool) {
	if !waits(pod) {
		return "", false
	}
	return r.take(pod, within)
}

// waits reports whether a pod needs a node and may be scheduled.
func waits(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" && len(pod.Spec.SchedulingGates) == 0 && pod.Status.Phase == corev1.PodPending
}
