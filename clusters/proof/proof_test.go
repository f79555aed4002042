package proof

import (
	"maps"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

const metrics = `# HELP kubernetes_build_info [ALPHA] build
# TYPE kubernetes_build_info gauge
kubernetes_build_info{git_version="v1.35.4",major="1"} 1
# HELP kubernetes_feature_enabled [BETA] gates
# TYPE kubernetes_feature_enabled gauge
kubernetes_feature_enabled{name="On",stage="ALPHA"} 1
kubernetes_feature_enabled{name="Off",stage=""} 0
`

func TestEmulation(t *testing.T) {
	const emulating = metrics + `version_info{binary="1.36.3",component="kube",emulation="1.35",min_compat="1.34"} 1` + "\n"
	for name, test := range map[string]struct {
		metrics string
		state   clusters.State
		want    string // "" for proven
	}{
		"nothing is said": {metrics, clusters.State{}, ""},
		"proven":          {emulating, clusters.State{EmulatedVersion: "1.35", MinCompatibilityVersion: "1.34"}, ""},
		"another one":     {emulating, clusters.State{EmulatedVersion: "1.34"}, `emulation "1.35", not "1.34"`},
		"less compatible": {emulating, clusters.State{MinCompatibilityVersion: "1.35"}, `min_compat "1.34", not "1.35"`},
		"not told":        {metrics, clusters.State{EmulatedVersion: "1.35"}, `emulation "", not "1.35"`},
	} {
		err := Emulation([]byte(test.metrics), test.state)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

// development is how a build of a branch reports its version.
const development = `# TYPE kubernetes_build_info gauge
kubernetes_build_info{git_version="v1.37.0-alpha.2.15+0a1b2c3d-dirty",major="1"} 1
`

func TestComponent(t *testing.T) {
	tests := map[string]struct {
		metrics, version string
		gates            map[string]bool
		want             []string // nil for proven
	}{
		"as meant": {
			metrics: metrics, version: "1.35.4",
			gates: map[string]bool{"On": true, "Off": false},
		},
		"any version":         {metrics: metrics},
		"groups of gates":     {metrics: metrics, gates: map[string]bool{"AllAlpha": true}},
		"another version":     {metrics: metrics, version: "1.34.4", want: []string{`runs version "v1.35.4", not 1.34.4`}},
		"a development build": {metrics: development, version: "1.37.0-alpha.2"},
		"a development build of another pre-release": {
			metrics: development, version: "1.37.0-alpha.3",
			want: []string{`runs version "v1.37.0-alpha.2.15+0a1b2c3d-dirty", not 1.37.0-alpha.3`},
		},
		"a pre-release is not its release": {metrics: development, version: "1.37.0", want: []string{"not 1.37.0"}},
		"gates not flipped": {
			metrics: metrics, gates: map[string]bool{"On": false, "Off": true},
			want: []string{"On should be false", "Off should be true"},
		},
		"an unknown gate off is not proven": {
			metrics: metrics, gates: map[string]bool{"Gone": false},
			want: []string{"Gone should be false", "known: false"},
		},
		"no metrics prove nothing": {metrics: "", version: "1.35.4", want: []string{`runs version ""`}},
		"not metrics":              {metrics: "<html>", want: []string{"read metrics"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			golden.Error(t, Component([]byte(test.metrics), test.version, test.gates), test.want...)
		})
	}
}

func TestGates(t *testing.T) {
	got, err := Gates([]byte(metrics +
		"other{name=\"On\"} 0\nkubernetes_feature_enabled{name=\"Gone\",stage=\"DEPRECATED\"} 0"))
	want := map[string]Gate{"On": {Enabled: true, Stage: "Alpha"}, "Off": {Stage: "GA"}, "Gone": {Stage: "Deprecated"}}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for name, text := range map[string]string{
		"none": "", "another program's": "up 1\n",
		"no gates": "kubernetes_build_info{git_version=\"v1.35.4\"} 1\n", "broken": "kubernetes_feature_enabled{name=\n",
	} {
		if got, err := Gates([]byte(text)); err == nil {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
