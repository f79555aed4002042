package rehearse

import (
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The systems of the options replace those of the scenarios; a name that no scenario has is an error.
func TestSystemsReplaceThoseOfTheScenarios(t *testing.T) {
	file := t.TempDir() + "/one.yaml"
	golden.Write(t, file, `
apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: one}
spec:
  cluster: {version: "1.36", systems: [{name: lws, simulated: {variant: ""}}]}
  steps:
  - eventually: {apiVersion: v1, kind: Node, count: 0}
`)
	with := func(name string) Options {
		manager := clusters.System{Process: &clusters.SystemProcess{Command: []string{"/manager"}}}
		return Options{Systems: map[string]clusters.System{name: manager}}
	}
	set, err := with("lws").load([]string{file})
	golden.Must(t, err)
	if got := set[0].Spec.Cluster.Systems[0]; got.Name != "lws" || got.Kind() != "process" {
		t.Errorf("the scenario has %+v", got)
	}
	_, err = with("other").load([]string{file})
	golden.Error(t, err, "Options.Systems: replace system other: no scenario has this system")
}
