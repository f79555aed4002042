package survey

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// whyStuck is why an object does not run: no node takes the Pod, its Pods cannot be created, or its volume is missing;
// "" if it may run. Only ReplicaSets and what owns them say in a condition that Pods cannot be created. Other
// controllers write an event, and the status shows that Pods are missing.
func whyStuck(o *unstructured.Unstructured) string {
	for _, condition := range conditionsOf(o) {
		if condition["type"] == "PodScheduled" && condition["reason"] == corev1.PodReasonUnschedulable ||
			condition["type"] == "PodScheduled" && condition["reason"] == corev1.PodReasonSchedulingGated ||
			condition["type"] == "ReplicaFailure" && condition["status"] == "True" {
			return fmt.Sprint(condition["message"])
		}
	}
	const missing = "none of its pods could be created (see the events of its namespace)"
	switch o.GetKind() {
	case "Pod":
		return unscheduled(o)
	case "PersistentVolumeClaim":
		if phase, _, _ := unstructured.NestedString(o.Object, "status", "phase"); phase == string(corev1.ClaimLost) {
			return "its volume does not exist, or belongs to another claim"
		}
	case "StatefulSet":
		if observed(o) && numberOr(o, 1, "spec", "replicas") > 0 && number(o, "status", "replicas") == 0 {
			return missing
		}
	case "DaemonSet":
		if observed(o) && number(o, "status", "desiredNumberScheduled") > 0 &&
			number(o, "status", "currentNumberScheduled") == 0 {
			return missing
		}
	case "Job":
		if wantsPods(o) && !ended(o) && podsOfJob(o) == 0 {
			return missing
		}
	}
	return ""
}

// unscheduled names the scheduler that has chosen no node for a Pod; "" if one is chosen, or if it is the default
// scheduler, which gives a reason in a condition.
func unscheduled(pod *unstructured.Unstructured) string {
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
	scheduler, _, _ := unstructured.NestedString(pod.Object, "spec", "schedulerName")
	if phase != string(corev1.PodPending) || node != "" || scheduler == "" || scheduler == corev1.DefaultSchedulerName {
		return ""
	}
	return fmt.Sprintf("scheduler %s has chosen no node for it; does it run?", scheduler)
}

// observed reports whether the controller has written a status for the object's current generation.
func observed(o *unstructured.Unstructured) bool {
	return o.GetGeneration() > 0 && number(o, "status", "observedGeneration") >= o.GetGeneration()
}

// wantsPods reports whether the Job controller should have created pods for a Job, which it has seen.
func wantsPods(o *unstructured.Unstructured) bool {
	suspended, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend")
	manager, managed, _ := unstructured.NestedString(o.Object, "spec", "managedBy")
	started, _, _ := unstructured.NestedString(o.Object, "status", "startTime")
	return started != "" && !suspended && (!managed || manager == batchv1.JobControllerName) &&
		numberOr(o, 1, "spec", "parallelism") > 0 && numberOr(o, 1, "spec", "completions") > 0
}

// podsOfJob is how many pods a Job has or had.
func podsOfJob(o *unstructured.Unstructured) (pods int64) {
	for _, field := range []string{"active", "succeeded", "failed"} {
		pods += number(o, "status", field)
	}
	return pods
}

// ended reports whether a Job has ended, or is about to.
func ended(o *unstructured.Unstructured) bool {
	for _, condition := range conditionsOf(o) {
		switch condition["type"] {
		case "Complete", "SuccessCriteriaMet", "Failed", "FailureTarget":
			if condition["status"] == "True" {
				return true
			}
		}
	}
	return false
}

// overdue reports whether a Job ended because its own time is over (spec.activeDeadlineSeconds), whatever the cluster
// did meanwhile.
func overdue(o *unstructured.Unstructured) bool {
	return o.GetKind() == "Job" && slices.ContainsFunc(conditionsOf(o), func(condition map[string]any) bool {
		return condition["reason"] == batchv1.JobReasonDeadlineExceeded && condition["status"] == "True"
	})
}

func conditionsOf(o *unstructured.Unstructured) (all []map[string]any) {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, condition := range conditions {
		if fields, ok := condition.(map[string]any); ok {
			all = append(all, fields)
		}
	}
	return all
}

// number is a field of an object; 0 if it has none.
func number(o *unstructured.Unstructured, path ...string) int64 { return numberOr(o, 0, path...) }

func numberOr(o *unstructured.Unstructured, otherwise int64, path ...string) int64 {
	if n, has, _ := unstructured.NestedInt64(o.Object, path...); has {
		return n
	}
	return otherwise
}
