package schedulerconfig

import (
	"slices"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
)

// The program that is asked gets the emulation of the state, as the cluster's own does.
func TestArgumentsOfAnEmulation(t *testing.T) {
	q := question{state: clusters.State{Version: "1.36.3", EmulatedVersion: "1.35"}, component: clusters.Scheduler}
	if args := q.arguments("config", "answer"); !slices.Contains(args, "--emulated-version=1.35") {
		t.Errorf("got %q", args)
	}
}
