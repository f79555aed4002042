package simulator

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/suites/kai/api"
)

// Probes returns objects whose creation, as a dry run, reaches every webhook of the simulator. Each variant accepts
// them.
func Probes() []*unstructured.Unstructured {
	group := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{
			"minMember": int64(1),
			"subGroups": []any{map[string]any{"name": "probe", "minMember": int64(1)}},
		},
	}}
	group.SetGroupVersionKind(api.GroupVersion.WithKind("PodGroup"))
	group.SetNamespace(metav1.NamespaceDefault)
	group.SetName("kai-probe")
	return []*unstructured.Unstructured{group}
}
