package writes

import (
	"testing"

	"github.com/rehearse-dev/rehearse/scenarios"
)

func TestBody(t *testing.T) {
	object := map[string]any{"kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}
	for want, step := range map[string]scenarios.Step{
		"kind: ConfigMap\nmetadata:\n  name: a": {Create: object},
		"data: null":                            {Patch: &scenarios.Patch{Merge: map[string]any{"data": nil}}},
		"spec: {}":                              {Patch: &scenarios.Patch{Strategic: map[string]any{"spec": map[string]any{}}}},
		"- op: remove\n  path: /data":           {Patch: &scenarios.Patch{JSON: []map[string]any{{"op": "remove", "path": "/data"}}}},
		"":                                      {Evict: &scenarios.Evict{}},
	} {
		if got := Body(&step); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
