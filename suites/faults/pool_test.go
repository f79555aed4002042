package faults

import (
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
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
