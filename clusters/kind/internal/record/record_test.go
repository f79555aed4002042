package record

import (
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The record forgets a flag as soon as the cluster has reached a state that does not set it.
func TestArriveForgetsFlagsThatWentBack(t *testing.T) {
	value := "before"
	r := &Record{Dir: t.TempDir()}
	r.now.Ours = map[clusters.Component]map[string]*string{clusters.APIServer: {"v": &value, "kept": nil}}
	state := clusters.State{Components: map[clusters.Component]clusters.ComponentState{clusters.APIServer: {Flags: map[string]string{"kept": "x"}}}}
	golden.Must(t, r.Arrive(state))
	if _, kept := r.OursOf(clusters.APIServer)["kept"]; !kept || len(r.OursOf(clusters.APIServer)) != 1 {
		t.Errorf("got %v", r.OursOf(clusters.APIServer))
	}
}
