package simulator

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// Probes returns valid objects. Creating them as dry runs reaches every webhook configuration of the simulator. A
// subdomainPolicy and a label group-index show that the webhooks were called.
func Probes() []*unstructured.Unstructured {
	pod := map[string]any{"containers": []any{map[string]any{"name": "probe", "image": "probe"}}}
	set := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"leaderWorkerTemplate": map[string]any{"workerTemplate": map[string]any{"spec": pod}}},
	}}
	set.SetGroupVersionKind(api.GroupVersion.WithKind(api.Kind))
	set.SetNamespace("default")
	set.SetName("probe")
	leader := &unstructured.Unstructured{Object: map[string]any{"spec": pod}}
	leader.SetAPIVersion("v1")
	leader.SetKind("Pod")
	leader.SetNamespace("default")
	leader.SetName("probe-0")
	leader.SetLabels(leaderSelector("probe"))
	return []*unstructured.Unstructured{set, leader}
}
