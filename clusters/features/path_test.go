package features_test

import (
	"context"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
)

// twoLists knows the gates of 1.35.4 and 1.36.3.
type twoLists struct{}

func (twoLists) FeatureList(_ context.Context, version string) (*features.List, error) {
	grows := features.Gate{Specs: []features.Spec{{Since: "1.34", Stage: features.Alpha}, {
		Since: "1.36",
		Stage: features.Beta, Default: true,
	}}}
	comes := features.Gate{Specs: []features.Spec{{Since: "1.36", Stage: features.Beta, Default: true}}}
	list := &features.List{Version: version, Gates: map[string]features.Gate{"Grows": grows}}
	if version == "1.36.3" {
		list.Gates["Comes"] = comes
		// A program's --help is about its own version, not the emulated one.
		list.Programs = map[clusters.Component]map[string]bool{clusters.APIServer: {"Grows": true, "Comes": true}}
	}
	return list, nil
}

// The gates that flip are those of the version that a state emulates.
func TestChangesAlongAPath(t *testing.T) {
	state := func(version, emulated string, on ...string) clusters.State {
		gates := map[string]bool{}
		for _, gate := range on {
			gates[gate] = true
		}
		return clusters.State{Version: version, EmulatedVersion: emulated, FeatureGates: gates}
	}
	for _, test := range []struct {
		before, after clusters.State
		want          string
	}{
		{state("1.35.4", ""), state("1.36.3", ""), "Grows turns on, Comes new"},
		{state("1.35.4", ""), state("1.36.3", "1.35"), ""},
		{state("1.36.3", "1.35"), state("1.36.3", ""), "Grows turns on, Comes new"},
		{state("1.36.3", ""), state("1.36.3", "1.35"), "Grows turns off, Comes removed"},
		{state("1.36.3", "1.35", "Grows"), state("1.36.3", "", "Grows"), "Comes new"},
		{state("1.36.3", ""), state("1.36.3", "", "Grows"), "Grows is set: default -> true"},
	} {
		hop := features.Along(t.Context(), twoLists{}, test.before, test.after)[0]
		if text := strings.Join(hop.Changes(), ", "); text != test.want || hop.Err != nil {
			t.Errorf("%s -> %s: %q, error: %v; want %q", test.before, test.after, text, hop.Err, test.want)
		}
	}
}

// Gates that the states set are reported even without any list.
func TestChangesWithoutLists(t *testing.T) {
	hop := features.Along(t.Context(), nil, clusters.State{Version: "1.35.4"},
		clusters.State{Version: "1.36.3", FeatureGates: map[string]bool{"Grows": true}})[0]
	if got := hop.Changes(); len(got) != 1 || got[0] != "Grows is set: default -> true" || hop.Err == nil {
		t.Errorf("got %q, error: %v", got, hop.Err)
	}
}
