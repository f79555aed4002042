package main

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters/kind"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// The scenarios of the library declare what they need. A plan of all of them on kind skips those that kind does not
// support, and rejects none.
func TestLibraryOnKind(t *testing.T) {
	t.Setenv("KIND_EXPERIMENTAL_PROVIDER", "docker")
	t.Setenv("DOCKER_HOST", "unix:///nowhere") // the plan must not depend on an engine
	provider, err := kind.Default(releases.Options{}, kind.NodeImages{}, t.Logf)
	golden.Must(t, err)
	set, err := scenarios.Load([]string{"../../scenarios"})
	golden.Must(t, err)
	simulators, err := builtin.All().Simulators().Own()
	golden.Must(t, err)
	plan, err := harness.NewPlan(t.Context(), provider, set.Scenarios, harness.PlanOptions{Simulators: simulators})
	golden.Must(t, err)
	if len(plan.Skipped) == 0 || len(plan.Tracks) == 0 {
		t.Errorf("%d skipped, %d tracks", len(plan.Skipped), len(plan.Tracks))
	}
	for _, skipped := range plan.Skipped {
		t.Logf("%s: %s", skipped.Scenario.Title(), skipped.Why)
	}
}

// Real pods ask for names by DNS.
func TestLivePods(t *testing.T) {
	needsKind(t)
	code, out, said := command(t, "run", "--provider", "kind", "--report-dir", t.TempDir(),
		"../../scenarios/kubernetes/service-name-pods.yaml")
	if all := out + said; code != cli.ExitOK || !strings.Contains(all, "1 passed, 0 failed  in") {
		t.Errorf("exit code %d:\n%s", code, all)
	}
}
