package clusters

import (
	"reflect"
	"strings"
	"testing"
)

// A program that replaces a simulator gets the simulator's configuration where its definition says so, and only there.
func TestConfigured(t *testing.T) {
	config := map[string]any{"profiles": []any{map[string]any{"name": "a"}}, "text": "$(DIR)"}
	definition := System{Name: "s", Module: &SystemModule{Path: "example.com/m", SystemProcess: SystemProcess{
		Command: []string{"--config=$(DIR)/c.yaml", "$$(CONFIG)"},
		Env:     map[string]string{"OTHER": "x"}, Files: map[string]string{"c.yaml": "kind: C\n$(CONFIG)"},
	}}}
	got, err := definition.Configured(config)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"c.yaml": "kind: C\nprofiles:\n- name: a\ntext: $$(DIR)\n"}
	if p := got.Module.SystemProcess; !reflect.DeepEqual(p.Files, want) || p.Env["OTHER"] != "x" ||
		!reflect.DeepEqual(p.Command, definition.Module.Command) {
		t.Errorf("%+v", p)
	}
	if definition.Module.Files["c.yaml"] != "kind: C\n$(CONFIG)" {
		t.Errorf("the definition itself was changed: %q", definition.Module.Files)
	}
	for _, deaf := range []System{
		{Name: "s", Process: &SystemProcess{Command: []string{"manager", "$$(CONFIG)"}}},
		{Name: "s", Manifests: []string{"$(CONFIG)"}},
	} {
		if _, err := deaf.Configured(config); err == nil || !strings.Contains(err.Error(), "does not contain $(CONFIG)") {
			t.Errorf("%s: %v", deaf, err)
		}
		if same, err := deaf.Configured(nil); err != nil || !reflect.DeepEqual(same, deaf) {
			t.Errorf("%s without a configuration: %+v, %v", deaf, same, err)
		}
	}
	own := map[string]any{"own": true}
	for _, test := range []struct{ has, want map[string]any }{{nil, config}, {own, own}} {
		simulated := System{Name: "s", Simulated: &Simulated{Config: test.has}}
		if got, err := simulated.Configured(config); err != nil || !reflect.DeepEqual(got.Simulated.Config, test.want) {
			t.Errorf("a simulator that has %v gets %v, %v", test.has, got.Simulated.Config, err)
		}
	}
}
