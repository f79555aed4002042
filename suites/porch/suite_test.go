package porch_test

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
	"github.com/rehearse-dev/rehearse/suites/porch"
	"github.com/rehearse-dev/rehearse/suites/porch/simulator"
	"github.com/rehearse-dev/rehearse/suites/simulators"
	"github.com/rehearse-dev/rehearse/suites/specs"
)

const library = "../../scenarios/porch"

func TestMain(m *testing.M) {
	component.Main()
	catalog().Main()
	os.Exit(m.Run())
}

func catalog() simulators.Catalog {
	own := simulators.Simulator{
		Run:      func(ctx context.Context, o simulators.Options) error { return simulator.Run(ctx, simulator.Options(o)) },
		Variants: simulator.Variants(), Probes: simulator.Probes(), Hosts: simulator.Hosts(),
	}
	for _, fault := range simulator.Faults() {
		own.Faults = append(own.Faults, simulators.Fault(fault))
	}
	return simulators.Catalog{simulator.Name: own}
}

// TestScenarios runs every scenario against the simulator on a real control plane, as a Ginkgo suite.
func TestScenarios(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	if err := specs.Declare(t.Context(), provider(t), load(t), options(t)); err != nil {
		t.Fatal(err)
	}
	ginkgo.RunSpecs(t, "Porch's engine rules")
}

func options(t *testing.T) harness.PlanOptions {
	t.Helper()
	own, err := catalog().Own()
	if err != nil {
		t.Fatal(err)
	}
	return harness.PlanOptions{Simulators: own}
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

func load(t *testing.T) []*scenarios.Scenario {
	t.Helper()
	set, err := scenarios.Load([]string{library})
	if err != nil {
		t.Fatal(err)
	}
	return set.Scenarios
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
	if len(plan.Tracks) != 2 { // one of them for the other readings
		t.Errorf("%d tracks:\n%s", len(plan.Tracks), plan)
	}
}

func TestRequirementsAreCovered(t *testing.T) {
	requirements, err := porch.Requirements()
	if err != nil {
		t.Fatal(err)
	}
	uncovered, unknown := suites.Coverage(requirements, load(t))
	for _, requirement := range uncovered {
		t.Errorf("no scenario covers %s: %s", requirement.ID, requirement.Statement)
	}
	for _, u := range unknown {
		t.Error(u)
	}
}
