package writes

import (
	"maps"
	"slices"
	"testing"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// Each verb of the language that writes is in the table, and has an effect.
func TestEachWriteIsInTheTable(t *testing.T) {
	want := slices.Sorted(slices.Values(scenarios.Writes()))
	if got := slices.Sorted(maps.Keys(table())); !slices.Equal(want, got) {
		t.Errorf("the language writes with\n%v\nwhat can be sent is\n%v", want, got)
	}
	for name, write := range table() {
		if write.effect == (effect{}) || write.prepare == nil {
			t.Errorf("%s has no effect, or is never prepared", name)
		}
	}
}

// A step whose verb is not a write is an error.
func TestNoWrite(t *testing.T) {
	step := scenarios.Step{Kill: &scenarios.ComponentReference{}}
	if _, err := (&Writer{}).prepare(Request{Step: &step}); err == nil {
		t.Error("a kill was taken for a write")
	}
}

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
