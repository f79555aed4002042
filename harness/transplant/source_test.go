package transplant

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/harness/capture"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func gate(specs ...features.Spec) features.Gate { return features.Gate{Specs: specs} }

func spec(stage features.Stage, value, locked bool) features.Spec {
	return features.Spec{Since: "1.30", Stage: stage, Default: value, Locked: locked}
}

// The copy gets the settings that differ from the defaults, except gates that are locked or unknown.
func TestSettings(t *testing.T) {
	list := &features.List{Version: "1.34.4", Gates: map[string]features.Gate{
		"On": gate(spec(features.Beta, true, false)), "Off": gate(spec(features.Beta, false, false)),
		"Usual": gate(spec(features.Beta, true, false)), "Locked": gate(spec(features.GA, true, true)),
	}}
	change := settings(&capture.Index{
		Gates:  map[string]bool{"On": false, "Off": true, "Usual": true, "Locked": false, "Unknown": true},
		Served: []string{"v1", "apps/v1", "resource.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha1"},
	}, list, list)
	if len(change.FeatureGates) != 2 || *change.FeatureGates["On"] || !*change.FeatureGates["Off"] {
		t.Errorf("gates %v", change.FeatureGates)
	}
	if len(change.RuntimeConfig) != 2 || *change.RuntimeConfig["resource.k8s.io/v1beta1"] != "true" {
		t.Errorf("APIs %v", change.RuntimeConfig)
	}
}

// lists has the gates of two versions. kube-scheduler does not know the gate Server.
type lists map[string]*features.List

func (l lists) FeatureList(_ context.Context, version string) (*features.List, error) {
	if l[version] == nil {
		return nil, fmt.Errorf("no list of %s", version)
	}
	return l[version], nil
}

func twoLists() lists {
	beta := spec(features.Beta, false, false)
	since := func(version string, value, locked bool) features.Spec {
		return features.Spec{Since: version, Stage: features.Beta, Default: value, Locked: locked}
	}
	gates := map[string]features.Gate{
		"Everywhere": gate(beta), "Server": gate(beta), "Done": gate(spec(features.GA, true, false)),
		"Old":   gate(spec(features.Deprecated, false, false)),
		"Flips": gate(since("1.33", false, false), since("1.34", true, false)),
		"Locks": gate(since("1.33", false, false), since("1.34", true, true)),
		"Ends":  gate(beta),
	}
	newer := map[string]features.Gate{}
	for name, one := range gates {
		if name != "Ends" {
			newer[name] = one
		}
	}
	programs := func(flips bool) map[clusters.Component]map[string]bool {
		return map[clusters.Component]map[string]bool{
			clusters.APIServer: {"Everywhere": false, "Server": false, "Flips": flips},
			clusters.Scheduler: {"Everywhere": false, "Flips": flips},
		}
	}
	return lists{
		"1.33.2": {Version: "1.33.2", Gates: gates, Programs: programs(false)},
		"1.34.4": {Version: "1.34.4", Gates: newer, Programs: programs(true)},
	}
}

// resolver is a provider that has every version.
type resolver struct{ clusters.Provider }

func (resolver) Resolve(_ context.Context, state clusters.State) (clusters.State, error) {
	return state, nil
}

// The first state has what differs from the defaults of the captured cluster's own version, in all programs that know
// it, unless flags override it.
func TestFirstState(t *testing.T) {
	on, off := true, false
	for _, test := range []struct {
		name  string
		gates map[string]bool
		flags clusters.Change
		want  string
	}{
		{"none", nil, clusters.Change{}, "1.33.2"},
		{"gates of all programs", map[string]bool{"Everywhere": true}, clusters.Change{}, "1.33.2 Everywhere=true"},
		{"a gate of kube-apiserver", map[string]bool{"Server": true}, clusters.Change{}, "1.33.2 kube-apiserver:Server=true"},
		{
			"gates that are in no --help",
			map[string]bool{"Done": false, "Old": true},
			clusters.Change{},
			"1.33.2 Done=false Old=true",
		},
		{
			"a flag",
			map[string]bool{"Server": true, "Done": false},
			clusters.Change{FeatureGates: map[string]*bool{"Server": &off, "Done": &on}},
			"1.33.2 Done=true Server=false",
		},
		{
			"a flag for the default",
			map[string]bool{"Server": true, "Done": false},
			clusters.Change{FeatureGates: map[string]*bool{"Server": nil, "Done": nil}},
			"1.33.2",
		},
		{
			"the defaults of the older version",
			map[string]bool{"Flips": false, "Locks": false, "Ends": false, "Done": true},
			clusters.Change{Version: "1.34.4"},
			"1.34.4",
		},
		{
			"gates that the newer version cannot set",
			map[string]bool{"Flips": true, "Locks": true, "Ends": true},
			clusters.Change{Version: "1.34.4"},
			"1.34.4 Flips=true",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			copied, err := New(documents(api), Options{Name: "prod", Now: time.Now})
			golden.Must(t, err)
			first, err := FirstState(t.Context(), resolver{}, twoLists(),
				&capture.Index{Source: "prod", Version: "1.33.2", Gates: test.gates}, copied, test.flags)
			golden.Must(t, err)
			needs, err := copied.Needs()
			golden.Must(t, err)
			for name := range needs.Components { // their flags are tested elsewhere
				c := first.Components[name]
				c.Flags = nil
				first.Components[name] = c
			}
			if got := first.String(); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
