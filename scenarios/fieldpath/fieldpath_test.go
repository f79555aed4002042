package fieldpath

import (
	"fmt"
	"testing"
)

func TestFieldPath(t *testing.T) {
	object := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"a.b/c": "d"}, "name": "web"},
		"spec": map[string]any{"ports": []any{
			map[string]any{"port": int64(80)},
			map[string]any{"name": "x"},
			map[string]any{"port": int64(81)},
		}},
		"empty": nil,
	}
	for text, want := range map[string]string{
		"metadata.name":              "[{metadata.name web}]",
		`metadata.labels["a.b/c"]`:   `[{metadata.labels["a.b/c"] d}]`,
		"spec.ports[*].port":         "[{spec.ports[0].port 80} {spec.ports[2].port 81}]",
		"spec.ports[2].port":         "[{spec.ports[2].port 81}]",
		"spec.ports[1].port":         "[]",
		"spec.ports[9]":              "[]",
		"spec.ports.port":            "[]",
		"spec[0]":                    "[]",
		"spec[*]":                    "[]",
		"status.containers[*].state": "[]",
		"empty":                      "[{empty <nil>}]",
	} {
		path, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := fmt.Sprint(path.Places(object)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"", ".", "a.", "a..b", ".a", "a[", "a[x]", "a[-1]", `a["b]`, "a[0]b"} {
		if path, err := Parse(text); err == nil {
			t.Errorf("%q is taken for the path %v", text, path)
		}
	}
}
