// Package suitetest contains the checks for the Go test of every suite: its scenarios pass on real control planes, its
// requirements are covered, and its faults are caught.
package suitetest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/onsi/ginkgo/v2"

	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/cases"
	"github.com/rehearse-dev/rehearse/suites/faults"
	"github.com/rehearse-dev/rehearse/suites/specs"
)

// library is the path of the scenarios, relative to a suite's folder.
const library = "../../scenarios"

// slowTests is the environment variable that also enables slow scenarios.
const slowTests = "REHEARSE_SLOW_TESTS"

// Suite is a suite under test.
type Suite struct {
	suites.Definition
	// MaxTracks is how many clusters the scenarios may need: a new scenario should use the path of an existing track.
	MaxTracks int
	// CachedVersions leaves out scenarios that need a version of Kubernetes that is not in the cache, and names them: to
	// build a version takes minutes.
	CachedVersions bool
	// Liberties are the simulator's liberties with which the test also runs the suite. The others take minutes: `make
	// liberties` tries all.
	Liberties []string
}

// Main is for TestMain: it turns the program into a component or into the simulator if its arguments say so, and
// otherwise runs the tests.
func (s Suite) Main(m *testing.M) {
	component.Main()
	s.Catalog().Main()
	os.Exit(m.Run())
}

// Test checks that the suite's parts fit together, that its scenarios pass, also with liberties of its simulator, and
// that each fault of its simulator makes it fail.
func (s Suite) Test(t *testing.T) {
	t.Helper()
	t.Run("library", s.library)
	var green *reports.Run
	if t.Run("scenarios", func(t *testing.T) { green = s.scenarios(t) }) && s.Simulator != nil {
		t.Run("faults", func(t *testing.T) { s.faults(t, green) })
		t.Run("liberties", s.liberties)
	}
}

// scenarios runs the scenarios on real control planes, as a Ginkgo suite, and returns their results. By default it
// leaves out the slow ones, and names them.
func (s Suite) scenarios(t *testing.T) *reports.Run {
	if testing.Short() {
		t.Skip("it needs clusters")
	}
	list := s.Load(t).Scenarios
	if os.Getenv(slowTests) == "" {
		list = slices.DeleteFunc(list, func(c *scenarios.Scenario) bool {
			_, slow := c.Metadata.Labels[suites.SlowLabel]
			if slow {
				t.Logf("NOT RUN: %s, which takes minutes; %s=1 runs it", c.Title(), slowTests)
			}
			return slow
		})
	}
	list = s.atHand(t, list)
	result, err := specs.Declare(t.Context(), s.Provider(t), list, s.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	ginkgo.RunSpecs(t, s.Title)
	run := result()
	explainFailures(t, run)
	return run
}

// explainFailures repeats the messages of failed specs, which Ginkgo prints where each spec ends. Often only the end of
// a long log is kept.
func explainFailures(t *testing.T, run *reports.Run) {
	t.Helper()
	for _, track := range run.Tracks {
		for _, scenario := range track.Scenarios {
			if _, err := reports.ForTest(run, scenario.Name); err != nil {
				t.Error(err)
			}
		}
	}
}

// atHand leaves out scenarios that need a version that is not in the cache, if the suite or a short test wants that:
// to build a version takes minutes. It skips the test if no scenario remains.
func (s Suite) atHand(t *testing.T, list []*scenarios.Scenario) []*scenarios.Scenario {
	if !s.CachedVersions && !testing.Short() {
		return list
	}
	store, err := releases.New(releases.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list = slices.DeleteFunc(slices.Clone(list), func(c *scenarios.Scenario) bool {
		for _, state := range c.Path() {
			if !store.Cached(state.Version) {
				t.Logf("NOT RUN: %s, which needs Kubernetes %s; rehearse fetch %s gets it", c.Title(), state.Version, state.Version)
				return true
			}
		}
		return false
	})
	if len(list) == 0 {
		t.Skip("NOT RUN: each scenario needs a version that is not in the cache, as on a new machine")
	}
	return list
}

// library fails the test if the suite itself is wrong.
func (s Suite) library(t *testing.T) {
	suite := s.Load(t)
	if err := suite.Check(); err != nil {
		t.Error(err)
	}
	for _, problem := range undecided(suite.Scenarios) {
		t.Error(problem)
	}
	plan, err := harness.NewPlan(t.Context(), s.Provider(t), s.atHand(t, suite.Scenarios), s.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Tracks) > s.MaxTracks {
		t.Errorf("%d tracks, more than %d:\n%s", len(plan.Tracks), s.MaxTracks, plan)
	}
}

// undecided names the requirements that no step covers, of scenarios that have several requirements. With such a step,
// a failed step fails only what it is about.
func undecided(list []*scenarios.Scenario) []string {
	var problems []string
	for _, c := range list {
		for _, id := range c.Spec.Covers {
			covered := func(step scenarios.Step) bool { return slices.Contains(step.Covers, id) }
			if len(c.Spec.Covers) > 1 && !slices.ContainsFunc(c.Spec.Steps, covered) {
				problems = append(problems, fmt.Sprintf("%s: %s: no step covers %s, so every failed step without covers fails it",
					c.Position, c.Title(), id))
			}
		}
	}
	return problems
}

// faults runs the suite with each fault of its simulator: the requirements that the fault breaks must fail. green is
// a recent run without faults, or nil.
func (s Suite) faults(t *testing.T, green *reports.Run) {
	if testing.Short() {
		t.Skip("it needs clusters")
	}
	faults.Demand(t, faults.Options{
		Suite: s.Load(t), Before: green, Provider: s.Provider(t),
		Simulators: s.Options(t).Simulators,
	})
}

// liberties runs the suite with liberties of its simulator: it must pass.
func (s Suite) liberties(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs clusters")
	}
	if len(s.Liberties) == 0 {
		t.Skip("NOT RUN: the liberties of this suite's simulator take minutes; make liberties tries them")
	}
	faults.DemandLiberties(t, faults.Options{
		Suite: s.Load(t), Only: s.Liberties, All: true, Provider: s.Provider(t), Simulators: s.Options(t).Simulators,
	})
}

// Cases judges generated cases of rules, the suite's own or others, on real control planes.
func (s Suite) Cases(t *testing.T, rules []cases.Rule, n int, seed uint64) []cases.Result {
	t.Helper()
	if testing.Short() {
		t.Skip("it needs clusters")
	}
	results, err := cases.Run(t.Context(), rules, cases.Options{
		Cases: n, Seed: seed, Provider: s.Provider(t), Simulators: s.Options(t).Simulators,
		Prefix: fmt.Sprintf("%s-%d", s.Name, os.Getpid()), Progress: t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// Load reads the suite with its scenarios. The paths of their files are relative to the suite's folder.
func (s Suite) Load(t testing.TB) suites.Suite {
	t.Helper()
	set, err := scenarios.Load([]string{filepath.Join(library, s.Name)})
	if err != nil {
		t.Fatal(err)
	}
	suite, err := s.Suite(set.Scenarios)
	if err != nil {
		t.Fatal(err)
	}
	return suite
}

// Options returns the options with the suite's simulators.
func (s Suite) Options(t testing.TB) harness.PlanOptions {
	t.Helper()
	own, err := s.Catalog().Own()
	if err != nil {
		t.Fatal(err)
	}
	return harness.PlanOptions{Simulators: own, Snapshots: true}
}

// Provider returns a provider of local clusters, which writes its progress to Ginkgo's output.
func (s Suite) Provider(t testing.TB) *local.Provider {
	t.Helper()
	provider, err := local.Default(releases.Options{Source: releases.Auto}, func(format string, args ...any) {
		ginkgo.GinkgoWriter.Printf(format+"\n", args...)
	})
	if err != nil {
		t.Fatal(err)
	}
	return provider
}
