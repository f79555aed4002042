package grove_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/faults"
)

// TestFaults runs the suite with each fault of the simulator: it must fail, and where the fault is.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	faults.Demand(t, faults.Options{Suite: suite(t), Provider: provider(t), Simulators: options(t).Simulators})
}
