// Package suitetest is what the Go test of every suite demands: its scenarios pass on real control planes, its requirements are covered, its faults
// are caught.
package suitetest

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/faults"
	"github.com/rehearse-dev/rehearse/suites/simulators"
	"github.com/rehearse-dev/rehearse/suites/specs"
)

// library is where the scenarios are, seen from a suite's folder.
const library = "../../scenarios"

// Suite is one that is tested.
type Suite struct {
	// Name of the suite, of its folder of scenarios, and of its simulator.
	Name string
	// Title of its Ginkgo specs.
	Title string
	// Requirements reads what is required.
	Requirements func() ([]suites.Requirement, error)
	// Profiles of implementations; none where there is only one kind.
	Profiles []suites.Profile
	// Simulator of the system; nil where the system is Kubernetes itself.
	Simulator *simulators.Simulator
	// Others are simulators of what the system works with, by name.
	Others simulators.Catalog
	// MaxTracks is how many clusters the scenarios may need: a new scenario should find its path among those that are there.
	MaxTracks int
}

// Main is for TestMain: it turns the program into a component or into the simulator if its arguments say so, and otherwise runs the tests.
func (s Suite) Main(m *testing.M) {
	component.Main()
	s.catalog().Main()
	os.Exit(m.Run())
}

// Specs runs every scenario on real control planes, as a Ginkgo suite.
func (s Suite) Specs(t *testing.T) {
	t.Helper()
	gomega.RegisterFailHandler(ginkgo.Fail)
	if err := specs.Declare(t.Context(), s.provider(t), s.scenarios(t), s.options(t)); err != nil {
		t.Fatal(err)
	}
	ginkgo.RunSpecs(t, s.Title)
}

// Check fails the test for what is wrong with the suite itself.
func (s Suite) Check(t *testing.T) {
	t.Helper()
	suite := s.load(t)
	if err := suite.Check(); err != nil {
		t.Error(err)
	}
	plan, err := harness.NewPlan(t.Context(), s.provider(t), suite.Scenarios, s.options(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Tracks) > s.MaxTracks {
		t.Errorf("%d tracks, more than %d:\n%s", len(plan.Tracks), s.MaxTracks, plan)
	}
}

// Faults runs the suite with each fault of its simulator: it must fail, and where the fault is.
func (s Suite) Faults(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	faults.Demand(t, faults.Options{Suite: s.load(t), Provider: s.provider(t), Simulators: s.options(t).Simulators})
}

func (s Suite) load(t *testing.T) suites.Suite {
	t.Helper()
	requirements, err := s.Requirements()
	if err != nil {
		t.Fatal(err)
	}
	suite := suites.Suite{Name: s.Name, Requirements: requirements, Scenarios: s.scenarios(t), Profiles: s.Profiles}
	if s.Simulator != nil {
		suite.System, suite.Faults = s.Name, s.Simulator.Faults
	}
	return suite
}

func (s Suite) scenarios(t *testing.T) []*scenarios.Scenario {
	t.Helper()
	set, err := scenarios.Load([]string{filepath.Join(library, s.Name)})
	if err != nil {
		t.Fatal(err)
	}
	return set.Scenarios
}

func (s Suite) catalog() simulators.Catalog {
	if s.Simulator == nil {
		return nil
	}
	all := simulators.Catalog{s.Name: *s.Simulator}
	maps.Copy(all, s.Others)
	return all
}

func (s Suite) options(t *testing.T) harness.PlanOptions {
	t.Helper()
	own, err := s.catalog().Own()
	if err != nil {
		t.Fatal(err)
	}
	return harness.PlanOptions{Simulators: own}
}

func (s Suite) provider(t *testing.T) *local.Provider {
	t.Helper()
	provider, err := local.Default(releases.Options{Source: releases.Auto}, func(format string, args ...any) {
		ginkgo.GinkgoWriter.Printf(format+"\n", args...)
	})
	if err != nil {
		t.Fatal(err)
	}
	return provider
}
