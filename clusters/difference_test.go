package clusters

import "testing"

func TestDifference(t *testing.T) {
	off, on := map[string]bool{"G": false}, map[string]bool{"G": true}
	count := 3
	for name, test := range map[string]struct {
		before, after   State
		direction, what string
	}{
		"from nothing": {State{}, State{Version: "1.34.4", FeatureGates: off}, Changed, "1.34.4, G off"},
		"up": {
			State{Version: "1.34.4", FeatureGates: off},
			State{Version: "1.35.4", FeatureGates: on},
			Up,
			"1.34.4 → 1.35.4, G on",
		},
		"down": {
			State{Version: "1.35.4", FeatureGates: on},
			State{Version: "1.34.4", FeatureGates: on},
			Down,
			"1.35.4 → 1.34.4",
		},
		"to a patch": {State{Version: "1.35.9"}, State{Version: "1.35.10"}, Up, "1.35.9 → 1.35.10"},
		"a gate": {
			State{Version: "1.35.4", FeatureGates: off},
			State{Version: "1.35.4", FeatureGates: on},
			Changed,
			"G on",
		},
		"no gate": {State{Version: "1.35.4", FeatureGates: on}, State{Version: "1.35.4"}, Changed, "G at its default"},
		"an API": {
			State{Version: "1.35.4"},
			State{Version: "1.35.4", RuntimeConfig: map[string]string{"api/all": "true"}},
			Changed, "api/all on",
		},
		"a flag": {
			State{Version: "1.35.4"},
			State{
				Version:    "1.35.4",
				Components: map[Component]ComponentState{APIServer: {Flags: map[string]string{"profiling": "false"}}},
			},
			Changed, "kube-apiserver:--profiling=false",
		},
		"no nodes": {
			State{Version: "1.35.4", Nodes: []NodeGroup{{Count: &count}}},
			State{Version: "1.35.4"},
			Changed,
			"without nodes",
		},
		"nothing to name": {
			State{Version: "1.35.4", FeatureGates: on},
			State{Version: "1.35.4", FeatureGates: on},
			Changed,
			"1.35.4 G=true",
		},
	} {
		t.Run(name, func(t *testing.T) {
			direction, what := test.after.Difference(test.before)
			if direction != test.direction || what != test.what {
				t.Errorf("%s: %s; want %s: %s", direction, what, test.direction, test.what)
			}
		})
	}
}
