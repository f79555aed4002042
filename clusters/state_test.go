package clusters

import (
	"reflect"
	"strings"
	"testing"
)

func ptr[T any](v T) *T { return &v }

func TestWith(t *testing.T) {
	before := State{
		Version:      "1.34",
		FeatureGates: map[string]bool{"A": true, "B": false},
		Components: map[Component]ComponentState{Scheduler: {
			FeatureGates: map[string]bool{"C": true},
			Flags:        map[string]string{"v": "4"},
		}},
		Nodes: []NodeGroup{{Count: ptr(2)}},
	}
	tests := map[string]struct {
		change Change
		want   State
	}{
		"nothing": {want: before},
		"a version alone keeps the gates": {
			change: Change{Version: "1.35"},
			want: State{
				Version: "1.35", FeatureGates: before.FeatureGates, Components: before.Components,
				Nodes: before.Nodes,
			},
		},
		"gates merge by name and null returns one to its default": {
			change: Change{FeatureGates: map[string]*bool{"A": nil, "B": ptr(true), "D": ptr(true)}},
			want: State{
				Version: "1.34", FeatureGates: map[string]bool{"B": true, "D": true}, Components: before.Components,
				Nodes: before.Nodes,
			},
		},
		"a component merges, null removes all of it": {
			change: Change{Components: map[Component]*ComponentChange{
				Scheduler: {Flags: map[string]*string{"v": nil, "x": ptr("y")}},
				APIServer: {Flags: map[string]*string{"z": ptr("1")}},
			}},
			want: State{
				Version: "1.34", FeatureGates: before.FeatureGates, Nodes: before.Nodes,
				Components: map[Component]ComponentState{
					Scheduler: {FeatureGates: map[string]bool{"C": true}, Flags: map[string]string{"x": "y"}},
					APIServer: {Flags: map[string]string{"z": "1"}},
				},
			},
		},
		"an empty list of nodes removes them": {
			change: Change{Nodes: []NodeGroup{}},
			want: State{
				Version: "1.34", FeatureGates: before.FeatureGates, Components: before.Components,
				Nodes: []NodeGroup{},
			},
		},
	}
	original := before.String()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := before.With(test.change); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
	if before.String() != original {
		t.Errorf("With changed its receiver: %s, was %s", before, original)
	}
}

func TestGatesOfAComponent(t *testing.T) {
	s := State{
		FeatureGates: map[string]bool{"A": true},
		Components:   map[Component]ComponentState{Scheduler: {FeatureGates: map[string]bool{"A": false, "B": true}}},
	}
	if got, want := s.Gates(Scheduler), map[string]bool{"A": false, "B": true}; !reflect.DeepEqual(got, want) {
		t.Errorf("scheduler: got %v, want %v", got, want)
	}
	if got, want := s.Gates(APIServer), map[string]bool{"A": true}; !reflect.DeepEqual(got, want) {
		t.Errorf("API server: got %v, want %v", got, want)
	}
}

func TestStateInOneLine(t *testing.T) {
	s := State{
		Version: "1.35.4", FeatureGates: map[string]bool{
			"B": false,
			"A": true,
		}, RuntimeConfig: map[string]string{"api/all": "true"},
		Components: map[Component]ComponentState{Scheduler: {
			FeatureGates: map[string]bool{"C": true},
			Flags:        map[string]string{"v": "4"},
		}},
		SchedulerProfiles: []map[string]any{{}}, Nodes: []NodeGroup{{Count: ptr(2)}, {}},
	}
	want := "1.35.4 A=true B=false api/all=true kube-scheduler:C=true kube-scheduler:--v=4 profiles=1 nodes=3"
	if got := s.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestParseRelease(t *testing.T) {
	for text, want := range map[string]string{
		"v1.34.4": "1.34.4", "v1.33.5-eks-113cf36": "1.33.5", "1.35.0+k3s1": "1.35.0", "v1.36.0-rc.1": "1.36.0-rc.1",
		"v1.36.0-beta.0+k3s1": "1.36.0-beta.0", "v1.37.0-alpha.2.15+0a1b2c3d-dirty": "1.37.0-alpha.2",
		"v1.36.1-rancher.1": "1.36.1", "1.36": "", "main": "",
	} {
		got, err := ParseRelease(text)
		if want == "" && err == nil || want != "" && (err != nil || got.String() != want) {
			t.Errorf("%s: got %s, %v, want %q", text, got, err, want)
		}
	}
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]string{
		"1.34": "1.34", "v1.34.4": "1.34.4", "1.36.0-rc.1": "1.36.0-rc.1",
		"1.30.0": "1.30.0",
	} {
		got, err := ParseVersion(text)
		if err != nil || got.String() != want {
			t.Errorf("%s: got %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1", "1.x", "1.34.", "1.34.4.5", "latest", "1.34-rc.1", " 1.34"} {
		if got, err := ParseVersion(text); err == nil {
			t.Errorf("%q: got %s, want an error", text, got)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	ordered := []string{"1.33.13", "1.34", "1.34.0-alpha.1", "1.34.0-rc.9", "1.34.0-rc.10", "1.34.0", "1.34.4", "1.35.4"}
	for i, a := range ordered {
		for j, b := range ordered {
			va, _ := ParseVersion(a)
			vb, _ := ParseVersion(b)
			if got := va.Compare(vb); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("compare %s with %s: %d", a, b, got)
			}
		}
	}
}

func TestStateAfter(t *testing.T) {
	simulated := func(config string) []System {
		return []System{{
			Name:      "grove",
			Simulated: &Simulated{Config: map[string]any{"scheduler": strings.Repeat("long ", 20) + config}},
		}}
	}
	before := State{
		Version: "1.35.4", FeatureGates: map[string]bool{
			"A": true,
			"B": false,
		}, RuntimeConfig: map[string]string{"api/beta": "true"},
		Nodes: []NodeGroup{{Name: "n"}}, Systems: simulated("one"), SchedulerProfiles: []map[string]any{{"a": "b"}},
	}
	for name, c := range map[string]struct {
		change func(*State)
		want   string
	}{
		"the version alone": {func(s *State) { s.Version = "1.36.3" }, "1.36.3"},
		"a gate":            {func(s *State) { s.FeatureGates = map[string]bool{"A": true, "B": true} }, "1.35.4 B=true"},
		"a gate is gone":    {func(s *State) { s.FeatureGates = map[string]bool{"B": false} }, "1.35.4 without A"},
		"no system, no API": {
			func(s *State) { s.Systems, s.RuntimeConfig = nil, nil },
			"1.35.4 without api/beta without grove",
		},
		"a configuration": {
			func(s *State) { s.Systems = simulated("two") },
			`1.35.4 grove(simulated, config {"scheduler":"long long long long long long long long long l... faa8)`,
		},
		"nothing to be seen": {
			func(s *State) { s.SchedulerProfiles = []map[string]any{{"a": "c"}} },
			`1.35.4 A=true B=false api/beta=true profiles=1 nodes=1 grove(simulated, config {"scheduler":"long long long long long long long long long l... c1f8)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			after := before
			c.change(&after)
			if got := after.After(before); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
