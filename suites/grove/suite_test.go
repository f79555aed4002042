package grove_test

import (
	"context"
	"testing"

	"github.com/rehearse-dev/rehearse/suites/grove"
	"github.com/rehearse-dev/rehearse/suites/grove/kaischeduler"
	"github.com/rehearse-dev/rehearse/suites/grove/simulator"
	"github.com/rehearse-dev/rehearse/suites/simulators"
	"github.com/rehearse-dev/rehearse/suites/suitetest"
)

func suite() suitetest.Suite {
	operator := &simulators.Simulator{
		RunConfigured: func(ctx context.Context, o simulators.Options, config []byte) error {
			return simulator.Run(ctx, simulator.Options(o), config)
		},
		Variants: simulator.Variants(), Probes: simulator.Probes(),
	}
	for _, fault := range simulator.Faults() {
		operator.Faults = append(operator.Faults, simulators.Fault(fault))
	}
	return suitetest.Suite{
		Name: simulator.Name, Title: "GREP-375 on Grove's simulator", Requirements: grove.Requirements, Simulator: operator,
		Others: simulators.Catalog{kaischeduler.Name: simulators.Simulator{
			Run: func(ctx context.Context, o simulators.Options) error { return kaischeduler.Run(ctx, kaischeduler.Options(o)) },
		}},
		// All configurations with what needs but one, those that are refused, 1.35, upgrades, and the outage.
		MaxTracks: 5,
	}
}

func TestMain(m *testing.M) { suite().Main(m) }

func TestScenarios(t *testing.T) { suite().Specs(t) }

func TestSuite(t *testing.T) { suite().Check(t) }

func TestFaults(t *testing.T) { suite().Faults(t) }
