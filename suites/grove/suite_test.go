package grove_test

import (
	"context"
	"os"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/grove"
	"github.com/rehearse-dev/rehearse/suites/grove/kaischeduler"
	"github.com/rehearse-dev/rehearse/suites/grove/simulator"
	"github.com/rehearse-dev/rehearse/suites/simulators"
	"github.com/rehearse-dev/rehearse/suites/specs"
)

const library = "../../scenarios/grove"

func TestMain(m *testing.M) {
	component.Main()
	catalog().Main()
	os.Exit(m.Run())
}

// catalog has the operator's simulator, and that of the KAI scheduler, which it works with.
func catalog() simulators.Catalog {
	operator := simulators.Simulator{
		RunConfigured: func(ctx context.Context, o simulators.Options, config []byte) error {
			return simulator.Run(ctx, simulator.Options(o), config)
		},
		Variants: simulator.Variants(), Probes: simulator.Probes(),
	}
	for _, fault := range simulator.Faults() {
		operator.Faults = append(operator.Faults, simulators.Fault(fault))
	}
	return simulators.Catalog{
		simulator.Name: operator,
		kaischeduler.Name: simulators.Simulator{
			Run: func(ctx context.Context, o simulators.Options) error {
				return kaischeduler.Run(ctx, kaischeduler.Options(o))
			},
		},
	}
}

// TestScenarios runs every scenario on real control planes with the simulators, as a Ginkgo suite.
func TestScenarios(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	if err := specs.Declare(t.Context(), provider(t), load(t), options(t)); err != nil {
		t.Fatal(err)
	}
	ginkgo.RunSpecs(t, "Scheduler backends on Grove's simulator")
}

func provider(t *testing.T) *local.Provider {
	t.Helper()
	provider, err := local.Default(releases.Options{Source: releases.Auto}, func(format string, args ...any) {
		ginkgo.GinkgoWriter.Printf(format+"\n", args...)
	})
	if err != nil {
		t.Fatal(err)
	}
	return provider
}

func options(t *testing.T) harness.PlanOptions {
	t.Helper()
	own, err := catalog().Own()
	if err != nil {
		t.Fatal(err)
	}
	return harness.PlanOptions{Simulators: own}
}

func load(t *testing.T) []*scenarios.Scenario {
	t.Helper()
	set, err := scenarios.Load([]string{library})
	if err != nil {
		t.Fatal(err)
	}
	return set.Scenarios
}

func suite(t *testing.T) suites.Suite {
	t.Helper()
	requirements, err := grove.Requirements()
	if err != nil {
		t.Fatal(err)
	}
	return suites.Suite{
		Name: simulator.Name, System: simulator.Name, Requirements: requirements, Scenarios: load(t), Faults: catalog()[simulator.Name].Faults,
	}
}

func TestSuite(t *testing.T) {
	if err := suite(t).Check(); err != nil {
		t.Error(err)
	}
}

func TestScenariosSayWhatTheyAre(t *testing.T) {
	for _, s := range load(t) {
		if s.Metadata.Labels["system"] != simulator.Name {
			t.Errorf("%s: labels %v of %s", s.Position, s.Metadata.Labels, s.Title())
		}
		if s.Spec.Description == "" || len(s.Spec.Covers) == 0 {
			t.Errorf("%s: %s needs a description and what it covers", s.Position, s.Title())
		}
	}
}

func TestScenariosShareClusters(t *testing.T) {
	plan, err := harness.NewPlan(t.Context(), provider(t), load(t), options(t))
	if err != nil {
		t.Fatal(err)
	}
	// Each track costs a cluster: the configurations with all that needs but one, those that are refused, gangs of 1.35, upgrades, and the outage.
	if len(plan.Tracks) > 6 {
		t.Errorf("%d tracks:\n%s", len(plan.Tracks), plan)
	}
}
