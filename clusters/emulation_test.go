package clusters

import (
	"fmt"
	"strings"
	"testing"
)

func TestEmulation(t *testing.T) {
	for name, test := range map[string]struct {
		state State
		want  string // "" for no error
	}{
		"none":             {State{Version: "1.33.13"}, ""},
		"one back":         {State{Version: "1.36.3", EmulatedVersion: "1.35"}, ""},
		"three back":       {State{Version: "1.36.3", EmulatedVersion: "1.33"}, ""},
		"four back":        {State{Version: "1.36.3", EmulatedVersion: "1.32"}, "Kubernetes 1.36.3 takes 1.33 to 1.36, not 1.32"},
		"newer":            {State{Version: "1.35.4", EmulatedVersion: "1.36"}, "takes 1.32 to 1.35, not 1.36"},
		"not proven":       {State{Version: "1.33.13", EmulatedVersion: "1.32"}, "does not show by a metric"},
		"compatible":       {State{Version: "1.36.3", EmulatedVersion: "1.35", MinCompatibilityVersion: "1.33"}, ""},
		"compatible alone": {State{Version: "1.36.3", MinCompatibilityVersion: "1.36"}, ""},
		"too compatible":   {State{Version: "1.36.3", MinCompatibilityVersion: "1.32"}, "takes 1.33 to 1.36, not 1.32"},
		"less than it emulates": {
			State{Version: "1.36.3", EmulatedVersion: "1.35", MinCompatibilityVersion: "1.36"},
			"newer than the emulated version 1.35",
		},
		"forward": {State{Version: "1.36.3", EmulatedVersion: "1.35", EmulationForwardCompatible: true}, ""},
		"forward of nothing": {
			State{Version: "1.36.3", EmulationForwardCompatible: true}, "the state emulates no version",
		},
		"no such flag": {State{Version: "1.34.4", MinCompatibilityVersion: "1.33"}, "has no such flag; from 1.35"},
	} {
		err := test.state.CheckEmulation()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

// An upgrade can have two steps: first the version, then the emulated version. An emulation ends when both have the
// same minor.
func TestEmulationOfTransitions(t *testing.T) {
	state, yes := State{Version: "1.35"}, true
	for i, step := range []struct {
		change Change
		want   string
	}{
		{Change{Version: "1.36", EmulatedVersion: "1.35"}, "1.36 emulatedVersion=1.35"},
		{Change{MinCompatibilityVersion: "1.34"}, "1.36 emulatedVersion=1.35 minCompatibilityVersion=1.34"},
		{Change{EmulationForwardCompatible: &yes}, "1.36 emulatedVersion=1.35 minCompatibilityVersion=1.34 " +
			"emulationForwardCompatible=true"},
		{Change{EmulatedVersion: "1.36"}, "1.36"},
		{Change{MinCompatibilityVersion: "1.36"}, "1.36 minCompatibilityVersion=1.36"},
		{Change{EmulatedVersion: "1.35"}, "1.36 emulatedVersion=1.35"},
		{Change{FeatureGates: map[string]*bool{}}, "1.36 emulatedVersion=1.35"},
		{Change{Version: "1.35"}, "1.35"},
	} {
		if state = state.With(step.change); state.String() != step.want {
			t.Errorf("step %d: got %q, want %q", i, state, step.want)
		}
	}
	state = State{
		Version: "1.36", EmulatedVersion: "1.35", EmulationForwardCompatible: true,
		Components: map[Component]ComponentState{Scheduler: {Flags: map[string]string{"v": "4", "emulated-version": "1.34"}}},
	}
	for component, want := range map[Component]string{
		APIServer: "map[emulated-version:1.35 emulation-forward-compatible:true " +
			"runtime-config-emulation-forward-compatible:true]", NamedComponent("batch"): "map[emulated-version:1.35]",
		Scheduler: "map[emulated-version:1.34 v:4]", Kubelet: "map[]",
	} {
		if got := fmt.Sprint(state.Flags(component)); got != want {
			t.Errorf("%s: got %s, want %s", component, got, want)
		}
	}
}
