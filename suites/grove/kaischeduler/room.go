package kaischeduler

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// room is the free resources of the nodes.
type room struct {
	nodes []corev1.Node
	left  map[string]map[corev1.ResourceName]int64
}

// newRoom returns the resources of the nodes, minus those of the pods on them.
func newRoom(nodes []corev1.Node, pods []corev1.Pod) *room {
	r := &room{nodes: nodes, left: map[string]map[corev1.ResourceName]int64{}}
	for i := range nodes {
		left := map[corev1.ResourceName]int64{}
		for name, quantity := range nodes[i].Status.Allocatable {
			left[name] = quantity.MilliValue()
		}
		r.left[nodes[i].Name] = left
	}
	for i := range pods {
		pod := &pods[i]
		if left := r.left[pod.Spec.NodeName]; left != nil && pod.Status.Phase != corev1.PodSucceeded &&
			pod.Status.Phase != corev1.PodFailed {
			for name, amount := range wants(pod) {
				left[name] -= amount
			}
		}
	}
	return r
}

// wants is what a pod requests from a node, in thousandths.
func wants(pod *corev1.Pod) map[corev1.ResourceName]int64 {
	all := map[corev1.ResourceName]int64{corev1.ResourcePods: 1000}
	for i := range pod.Spec.Containers {
		for name, quantity := range pod.Spec.Containers[i].Resources.Requests {
			all[name] += quantity.MilliValue()
		}
	}
	return all
}

func (r *room) clone() *room {
	c := &room{nodes: r.nodes, left: map[string]map[corev1.ResourceName]int64{}}
	for name, left := range r.left {
		c.left[name] = maps.Clone(left)
	}
	return c
}

// take reserves room for a pod on the first node of a place that has it.
func (r *room) take(pod *corev1.Pod, within place) (node string, ok bool) {
	wanted := wants(pod)
	for i := range r.nodes {
		if !within(&r.nodes[i]) || !suits(&r.nodes[i], pod) {
			continue
		}
		left := r.left[r.nodes[i].Name]
		if !fits(left, wanted) {
			continue
		}
		for name, amount := range wanted {
			left[name] -= amount
		}
		return r.nodes[i].Name, true
	}
	return "", false
}

func fits(left, wanted map[corev1.ResourceName]int64) bool {
	for name, amount := range wanted {
		if amount > left[name] {
			return false
		}
	}
	return true
}

// suits reports whether a node accepts a pod, regardless of its room.
func suits(node *corev1.Node, pod *corev1.Pod) bool {
	if node.Spec.Unschedulable || node.DeletionTimestamp != nil {
		return false
	}
	for key, value := range pod.Spec.NodeSelector {
		if node.Labels[key] != value {
			return false
		}
	}
	return !slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		tolerated := slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
			return (t.Key == "" || t.Key == taint.Key) && (t.Effect == "" || t.Effect == taint.Effect) &&
				(t.Operator == corev1.TolerationOpExists || t.Value == taint.Value)
		})
		return taint.Effect != corev1.TaintEffectPreferNoSchedule && !tolerated
	})
}
