package installing

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestManifestsInTheirOrder(t *testing.T) {
	var all []*unstructured.Unstructured
	for _, kind := range []string{
		"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", "apps/v1 Deployment",
		"v1 Namespace", "v1 Service", "apiextensions.k8s.io/v1 CustomResourceDefinition",
	} {
		apiVersion, name, _ := strings.Cut(kind, " ")
		all = append(all, &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": name}})
	}
	var got []string
	for _, object := range append(foundations(all), others(all)...) {
		got = append(got, object.GetKind())
	}
	if want := "Namespace CustomResourceDefinition Deployment Service ValidatingWebhookConfiguration"; strings.Join(got,
		" ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestRolledOut(t *testing.T) {
	workload := func(kind string, generation, seen, wanted, updated, available int64) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"kind": kind, "metadata": map[string]any{"generation": generation}, "spec": map[string]any{"replicas": wanted},
			"status": map[string]any{
				"observedGeneration": seen, "updatedReplicas": updated, "availableReplicas": available,
				"desiredNumberScheduled": wanted, "updatedNumberScheduled": updated, "numberAvailable": available,
			},
		}}
	}
	for _, kind := range []string{"Deployment", "StatefulSet", "DaemonSet"} {
		for _, c := range []struct {
			generation, seen, wanted, updated, available int64
			want                                         bool
		}{
			{1, 1, 2, 2, 2, true}, {2, 1, 2, 2, 2, false}, {1, 1, 2, 1, 2, false}, {1, 1, 2, 2, 1, false}, {1, 1, 0, 0, 0, true},
		} {
			if err := rolledOut(workload(kind, c.generation, c.seen, c.wanted, c.updated, c.available)); (err == nil) != c.want {
				t.Errorf("%s %+v: %v", kind, c, err)
			}
		}
	}
	// Its only available pod is the one before the update.
	replaced := workload("Deployment", 2, 2, 1, 1, 1)
	for pods, want := range map[int64]bool{1: true, 2: false} {
		golden.Must(t, unstructured.SetNestedField(replaced.Object, pods, "status", "replicas"))
		if err := rolledOut(replaced); (err == nil) != want {
			t.Errorf("%d pods: %v", pods, err)
		}
	}
	if rolledOut(&unstructured.Unstructured{Object: map[string]any{"kind": "Deployment"}}) == nil {
		t.Error("a Deployment that nobody has looked at is rolled out")
	}
}
