package artifacts

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestManagersOf(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{
			"name": "web", "uid": "1", "managedFields": []any{
				map[string]any{
					"manager": "kubectl", "operation": "Update", "fieldsType": "FieldsV1",
					"fieldsV1": map[string]any{"f:spec": map[string]any{"f:nodeName": map[string]any{}}},
				},
				map[string]any{"manager": "kwok", "subresource": "status", "fieldsV1": map[string]any{"f:status": map[string]any{}}},
				map[string]any{"manager": "nothing"},
			},
		},
	}}
	line := managersOf(object, "pods")
	if len(line.Managers) != 2 || line.Name != "web" || line.Resource != "pods" || line.Line != "managers" {
		t.Fatalf("%+v", line)
	}
	if m := line.Managers[1]; m.Name != "kwok" || m.Subresource != "status" || m.Fields["f:status"] == nil {
		t.Errorf("%+v", m)
	}
	if spec, _ := line.Managers[0].Fields["f:spec"].(map[string]any); spec["f:nodeName"] == nil {
		t.Errorf("%+v", line.Managers[0])
	}
}
