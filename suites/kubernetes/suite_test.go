package kubernetes

import (
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
	"github.com/rehearse-dev/rehearse/suites/specs"
)

const library = "../../scenarios/kubernetes"

func TestMain(m *testing.M) {
	component.Main()
	os.Exit(m.Run())
}

// TestScenarios runs every scenario on real control planes, as a Ginkgo suite.
func TestScenarios(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	if err := specs.Declare(t.Context(), provider(t), load(t), harness.PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	ginkgo.RunSpecs(t, "KEP-5311 on Kubernetes")
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
		if s.Metadata.Labels["system"] != "kubernetes" || s.Metadata.Labels["kep"] != "5311" {
			t.Errorf("%s: labels %v of %s", s.Position, s.Metadata.Labels, s.Title())
		}
		if s.Spec.Description == "" || len(s.Spec.Covers) == 0 {
			t.Errorf("%s: %s needs a description and what it covers", s.Position, s.Title())
		}
	}
}

func TestScenariosShareClusters(t *testing.T) {
	plan, err := harness.NewPlan(t.Context(), provider(t), load(t), harness.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Each track costs a cluster; a new scenario should find its path among those that are there.
	if len(plan.Tracks) > 11 {
		t.Errorf("%d tracks:\n%s", len(plan.Tracks), plan)
	}
}

func TestRequirementsAreCovered(t *testing.T) {
	requirements, err := Requirements()
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

func TestKnownIssuesAreOfWhatIsCovered(t *testing.T) {
	for _, s := range load(t) {
		covered := map[string]bool{}
		for _, id := range s.Spec.Covers {
			covered[id] = true
		}
		for _, issue := range s.Spec.Known {
			for _, id := range issue.Covers {
				if !covered[id] {
					t.Errorf("%s: %s knows of an issue with %s, which it does not cover", s.Position, s.Title(), id)
				}
			}
		}
	}
}
