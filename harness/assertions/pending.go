package assertions

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// mostPending is how many pending pods a message describes.
const mostPending = 3

// pending describes what keeps the pods of an object, or a pod itself, from running now. It says nothing about a past
// time.
func (w *watcher) pending(ctx context.Context, focus *unstructured.Unstructured) string {
	if w.Pods == nil || w.Window != nil || w.verb == "never" || w.assertion.Absent || focus.GetNamespace() == "" {
		return ""
	}
	limited, cancel := w.limited(ctx, lastLookWithin)
	defer cancel()
	pods, nodes, err := w.Pods(limited, focus.GetNamespace())
	if err != nil {
		return "" // the pods would only have helped to explain
	}
	var waiting []*unstructured.Unstructured
	unscheduled := 0
	for _, pod := range pods {
		phase, _, err := unstructured.NestedString(pod.Object, "status", "phase")
		if err != nil || phase != "Pending" || pod.GetDeletionTimestamp() != nil || !belongs(pod, focus) {
			continue
		}
		waiting = append(waiting, pod)
		if nodeOf(pod) == "" {
			unscheduled++
		}
	}
	if nodes == 0 && unscheduled > 0 {
		return `The cluster has no nodes, so its pods stay Pending: add "nodes: [{count: 1}]" to the scenario's cluster.`
	}
	var b strings.Builder
	for _, pod := range waiting[:min(mostPending, len(waiting))] {
		fmt.Fprintf(&b, "Pod %s is Pending: %s\n", pod.GetName(), waitsFor(pod))
	}
	if more := len(waiting) - mostPending; more > 0 {
		fmt.Fprintf(&b, "... and %d more pods are Pending\n", more)
	}
	return b.String()
}

// belongs reports whether a pod is the object, or is one of its pods: by its owner, by the object's selector, or
// otherwise by its name.
func belongs(pod, object *unstructured.Unstructured) bool {
	if object.GetUID() != "" && pod.GetUID() == object.GetUID() {
		return true
	}
	if object.GetKind() == "Pod" && object.GroupVersionKind().Group == "" {
		return false
	}
	for _, owner := range pod.GetOwnerReferences() {
		if owner.UID == object.GetUID() {
			return true
		}
	}
	if selector := selectorOf(object); selector != nil {
		return selector.Matches(labels.Set(pod.GetLabels()))
	}
	return object.GroupVersionKind().Group != "" && strings.HasPrefix(pod.GetName(), object.GetName()+"-")
}

// selectorOf returns the selector of an object's pods; nil if it has no such field.
func selectorOf(object *unstructured.Unstructured) labels.Selector {
	fields, found, err := unstructured.NestedMap(object.Object, "spec", "selector")
	if err != nil || !found || len(fields) == 0 {
		return nil
	}
	var selector metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &selector); err == nil &&
		len(selector.MatchLabels)+len(selector.MatchExpressions) > 0 {
		if parsed, err := metav1.LabelSelectorAsSelector(&selector); err == nil {
			return parsed
		}
	}
	set, _, err := unstructured.NestedStringMap(object.Object, "spec", "selector")
	if err != nil || len(set) == 0 {
		return nil
	}
	return labels.SelectorFromSet(set)
}

func nodeOf(pod *unstructured.Unstructured) string {
	node, _, err := unstructured.NestedString(pod.Object, "spec", "nodeName")
	if err != nil {
		return ""
	}
	return node
}

// waitsFor returns what the scheduler says about a pod, or the kubelet about its containers.
func waitsFor(pod *unstructured.Unstructured) string {
	if nodeOf(pod) == "" {
		if c := conditionOf(pod, "PodScheduled"); c["status"] == "False" {
			return fmt.Sprint(c["message"])
		}
		return "no scheduler has looked at it"
	}
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		statuses, _, err := unstructured.NestedSlice(pod.Object, "status", list)
		if err != nil {
			continue
		}
		for _, item := range statuses {
			status, _ := item.(map[string]any)
			waiting, found, err := unstructured.NestedMap(status, "state", "waiting")
			if err != nil || !found || waiting["reason"] == "PodInitializing" {
				continue
			}
			text := fmt.Sprintf("container %v waits: %v", status["name"], waiting["reason"])
			if message, ok := waiting["message"].(string); ok && message != "" {
				text += ": " + message
			}
			return text
		}
	}
	return "it is on node " + nodeOf(pod) + ", whose kubelet has not started it"
}
