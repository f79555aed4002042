package explore

import (
	"maps"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
)

// A gate does not start without the gates that it needs. A gate that needs it does not start while it is off.
func TestGatesAreFlippedWithTheirDependencies(t *testing.T) {
	beta := []features.Spec{{Since: "0.0", Stage: features.Beta}}
	list := &features.List{Version: "1.36.3", Gates: map[string]features.Gate{
		"A": {Specs: beta, Needs: []string{"Below"}}, "B": {Specs: beta}, "Below": {Specs: beta},
		"Above": {Specs: beta, Needs: []string{"B"}}, "Other": {Specs: beta},
	}}
	state := clusters.State{Version: "1.36.3"}
	gates, err := GatesOf(list, state, []string{"A", "B"})
	if err != nil {
		t.Fatal(err)
	}
	judged := gates[1].Flipped.Components[clusters.APIServer].FeatureGates
	if !maps.Equal(judged, map[string]bool{"A": true, "Below": true}) || len(gates[1].Flipped.FeatureGates) > 0 {
		t.Errorf("A is flipped by the gates %v of kube-apiserver, and %v of all components", judged,
			gates[1].Flipped.FeatureGates)
	}
	path := PathOf(list, state, gates)
	on, off := map[string]bool{"A": true, "B": true, "Below": true}, map[string]bool{
		"A": false, "B": false,
		"Above": false,
	}
	if len(path) != 3 || !maps.Equal(path[0].FeatureGates, on) || !maps.Equal(path[1].FeatureGates, off) ||
		!maps.Equal(path[2].FeatureGates, on) {
		t.Errorf("the path is %v", path)
	}
}
