package transplant

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Manifest returns an object as a user would write it: the manifest that kubectl applied last, if that is known.
// Otherwise, it is the object without the fields that the API server and controllers set.
func Manifest(o *unstructured.Unstructured) *unstructured.Unstructured {
	if last := lastApplied(o); last != nil {
		return last
	}
	return withoutServersFields(o)
}

// withoutServersFields is a copy of an object without the fields that the API server and controllers set.
func withoutServersFields(o *unstructured.Unstructured) *unstructured.Unstructured {
	m := o.DeepCopy()
	unstructured.RemoveNestedField(m.Object, "status")
	for _, field := range []string{
		"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation",
		"managedFields", "resourceVersion", "selfLink", "uid",
	} {
		unstructured.RemoveNestedField(m.Object, "metadata", field)
	}
	switch m.GroupVersionKind().GroupKind().String() {
	case "Job.batch":
		withoutSelector(m)
	case "PersistentVolume":
		unstructured.RemoveNestedField(m.Object, "spec", "claimRef", "uid")
		unstructured.RemoveNestedField(m.Object, "spec", "claimRef", "resourceVersion")
	}
	return m
}

func lastApplied(o *unstructured.Unstructured) *unstructured.Unstructured {
	text := o.GetAnnotations()[corev1.LastAppliedConfigAnnotation]
	m := &unstructured.Unstructured{}
	if text == "" || json.Unmarshal([]byte(text), m) != nil {
		return nil
	}
	if m.GetKind() != o.GetKind() || m.GetName() != o.GetName() ||
		m.GroupVersionKind().Group != o.GroupVersionKind().Group {
		return nil
	}
	return m
}

// withoutSelector removes the selector and the labels that the API server generates for each Job, unless the Job sets
// manualSelector.
func withoutSelector(job *unstructured.Unstructured) {
	if manual, _, _ := unstructured.NestedBool(job.Object, "spec", "manualSelector"); manual {
		return
	}
	unstructured.RemoveNestedField(job.Object, "spec", "selector")
	for _, label := range []string{
		"controller-uid", "batch.kubernetes.io/controller-uid", "job-name",
		"batch.kubernetes.io/job-name",
	} {
		unstructured.RemoveNestedField(job.Object, "spec", "template", "metadata", "labels", label)
	}
}
