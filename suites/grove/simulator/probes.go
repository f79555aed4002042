package simulator

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/suites/grove/api"
)

// Probes returns an object whose creation, as a dry run, reaches the webhook.
func Probes() []*unstructured.Unstructured {
	clique := map[string]any{
		"name": "probe",
		"spec": map[string]any{"podSpec": map[string]any{"containers": []any{map[string]any{
			"name":  "probe",
			"image": "probe",
		}}}},
	}
	template := map[string]any{"cliques": []any{clique}}
	set := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": template}}}
	set.SetGroupVersionKind(api.GroupVersion.WithKind(api.KindPodCliqueSet))
	set.SetNamespace("default")
	set.SetName("probe")
	return []*unstructured.Unstructured{set}
}
