package kai_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/kai"
	"github.com/rehearse-dev/rehearse/suites/kai/simulator"
	"github.com/rehearse-dev/rehearse/suites/simulators"
	"github.com/rehearse-dev/rehearse/suites/specs"
)

const library = "../../scenarios/kai"

func TestMain(m *testing.M) {
	component.Main()
	catalog().Main()
	os.Exit(m.Run())
}

// catalog has the one simulator of this suite.
func catalog() simulators.Catalog {
	entry := simulators.Simulator{
		Run:      func(ctx context.Context, o simulators.Options) error { return simulator.Run(ctx, simulator.Options(o)) },
		Variants: simulator.Variants(), Probes: simulator.Probes(),
	}
	for _, fault := range simulator.Faults() {
		entry.Faults = append(entry.Faults, simulators.Fault(fault))
	}
	return simulators.Catalog{simulator.Name: entry}
}

// TestScenarios runs every scenario on real control planes with the simulator, as a Ginkgo suite.
func TestScenarios(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	if err := specs.Declare(t.Context(), provider(t), load(t), options(t)); err != nil {
		t.Fatal(err)
	}
	ginkgo.RunSpecs(t, "Lowercase sub group names on KAI's simulator")
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

func TestSuite(t *testing.T) {
	requirements, err := kai.Requirements()
	if err != nil {
		t.Fatal(err)
	}
	suite := suites.Suite{
		Name: "kai", System: simulator.Name, Requirements: requirements, Scenarios: load(t),
		Faults: catalog()[simulator.Name].Faults, Profiles: kai.Profiles(),
	}
	if err := suite.Check(); err != nil {
		t.Error(err)
	}
}

func TestScenariosSayWhatTheyAre(t *testing.T) {
	for _, s := range load(t) {
		if s.Metadata.Labels["system"] != "kai" {
			t.Errorf("%s: labels %v of %s", s.Position, s.Metadata.Labels, s.Title())
		}
		if s.Spec.Description == "" || len(s.Spec.Covers) == 0 {
			t.Errorf("%s: %s needs a description and what it covers", s.Position, s.Title())
		}
	}
}

// Every scenario is about one profile, so that each can be run for an implementation.
func TestScenariosHaveAProfile(t *testing.T) {
	for _, s := range load(t) {
		variants := []string{s.Spec.Cluster.Systems[0].Simulated.Variant}
		for _, step := range s.Spec.Steps {
			if step.Transition != nil {
				variants = append(variants, step.Transition.Systems[0].Simulated.Variant)
			}
		}
		fits := func(p suites.Profile) bool {
			strange := func(variant string) bool { return !slices.Contains(p.Variants, variant) }
			return slices.Contains(variants, p.Variants[0]) && !slices.ContainsFunc(variants, strange)
		}
		if !slices.ContainsFunc(kai.Profiles(), fits) {
			t.Errorf("%s: %s goes through the variants %v, which are of no profile", s.Position, s.Title(), variants)
		}
	}
}

func TestScenariosShareClusters(t *testing.T) {
	plan, err := harness.NewPlan(t.Context(), provider(t), load(t), options(t))
	if err != nil {
		t.Fatal(err)
	}
	// Each track costs a cluster: one for each profile, one for each upgrade to it, and one for the outage.
	if len(plan.Tracks) > 7 {
		t.Errorf("%d tracks:\n%s", len(plan.Tracks), plan)
	}
}
