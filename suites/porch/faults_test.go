package porch_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/faults"
	"github.com/rehearse-dev/rehearse/suites/porch"
	"github.com/rehearse-dev/rehearse/suites/porch/simulator"
)

// TestFaults runs the suite with each fault of the simulator: it must fail, and where the fault is.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	requirements, err := porch.Requirements()
	if err != nil {
		t.Fatal(err)
	}
	suite := suites.Suite{
		Name: simulator.Name, System: simulator.Name, Requirements: requirements, Scenarios: load(t), Faults: catalog()[simulator.Name].Faults,
	}
	faults.Demand(t, faults.Options{Suite: suite, Provider: provider(t), Simulators: options(t).Simulators})
}
