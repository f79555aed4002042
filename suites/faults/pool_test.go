package faults

import (
	"slices"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func TestFaultless(t *testing.T) {
	systems := []clusters.System{
		{Name: "a", Simulated: &clusters.Simulated{Variant: "older", Faults: []string{"x"}}},
		{Name: "b", Process: &clusters.SystemProcess{Command: []string{"true"}}},
	}
	got := faultless(systems)
	if got[0].Simulated.Faults != nil || got[0].Simulated.Variant != "older" || got[1].Process == nil {
		t.Errorf("got %v", got)
	}
	if len(systems[0].Simulated.Faults) != 1 {
		t.Error("what was given was changed")
	}
}

func TestClustersAreAlikeButForTheirSystems(t *testing.T) {
	one := clusters.State{Version: "1.36.3", Systems: []clusters.System{{Name: "a"}}}
	other := clusters.State{Version: "1.36.3"}
	if bare(one) != bare(other) {
		t.Error("states that differ in systems alone are not alike")
	}
	if other.FeatureGates = map[string]bool{"X": true}; bare(one) == bare(other) {
		t.Error("states with other gates are alike")
	}
}

// Groups that can share a cluster are consecutive; the order is otherwise unchanged.
func TestByState(t *testing.T) {
	in := func(trial int, version string, systems ...clusters.System) chosen {
		c := scenario("s")
		c.Spec.Cluster = clusters.State{Version: version, Systems: systems}
		return chosen{trial, group{scenarios: []*scenarios.Scenario{c}}}
	}
	round := []chosen{
		in(0, "1.36"), in(1, "1.35"), in(2, "1.36", clusters.System{Name: "x"}), in(3, "1.35"),
		in(4, "1.36"),
	}
	byState(round)
	var order []int
	for _, c := range round {
		order = append(order, c.trial)
	}
	if want := []int{1, 3, 0, 2, 4}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
}
