package settings

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestEditExtraArgs(t *testing.T) {
	before := "false"
	ours := map[string]*string{"gone": nil, "back": &before, "set": nil}
	wanted := map[string]string{"set": "new", "feature-gates": "A=true"}
	for name, c := range map[string]struct{ in, want string }{
		"v1beta3": {
			`{kept: x, gone: "1", back: "true", set: old}`,
			`{"back":"false","feature-gates":"A=true","kept":"x","set":"new"}`,
		},
		"v1beta4": {
			`[{name: kept, value: x}, {name: gone, value: "1"}, {name: back, value: "true"}, {name: set, value: old}]`,
			`[{"name":"kept","value":"x"},{"name":"back","value":"false"},{"name":"feature-gates","value":"A=true"},{"name":"set","value":"new"}]`,
		},
		"none": {`null`, `{"back":"false","feature-gates":"A=true","set":"new"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var args any
			golden.Must(t, yaml.Unmarshal([]byte(c.in), &args))
			got, err := json.Marshal(editExtraArgs(args, ours, wanted))
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestEditClusterConfiguration(t *testing.T) {
	state := clusters.State{
		Version:       "1.36.3",
		RuntimeConfig: map[string]string{"x/v1": "true"},
	}
	none := func(clusters.Component) map[string]*string { return nil }
	const before = "{apiServer: {extraArgs: [], other: 1}, kubernetesVersion: v1.34.4}"
	got, err := EditClusterConfiguration(before, "1.35.4", state, none)
	const want = `apiServer:
  extraArgs:
  - name: runtime-config
    value: x/v1=true
  other: 1
kubernetesVersion: v1.35.4
`
	if err != nil || got != want {
		t.Errorf("got %v:\n%s\nwant:\n%s", err, got, want)
	}
	for _, text := range []string{"", "{", "{apiServer: {}}"} {
		if got, err := EditClusterConfiguration(text, "1.35.4", state, none); err == nil {
			t.Errorf("%q was taken: %s", text, got)
		}
	}
}
