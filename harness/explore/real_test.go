package explore_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/explorations"
)

func TestMain(m *testing.M) {
	component.Main()
	os.Exit(m.Run())
}

// An exploration finds the Ingress of KEP-5311 without any hint: it is accepted while a gate is on, and cannot be
// edited after the gate is turned off.
func TestExplorationFindsTheIngressOfKEP5311(t *testing.T) {
	provider := clustertest.Local(t)
	one := 1
	var path []clusters.State
	for _, on := range []bool{true, false} {
		state, err := provider.Resolve(t.Context(), clusters.State{
			Version: "1.34", FeatureGates: map[string]bool{"RelaxedServiceNameValidation": on},
			Nodes: []clusters.NodeGroup{{Count: &one}},
		})
		golden.Must(t, err)
		path = append(path, state)
	}
	report, err := explore.Run(t.Context(), explore.Options{
		Provider: provider, Path: path, Base: path[0], Kinds: []string{"Ingress"}, Seed: 1, Objects: 60, Together: 25,
		Settle: time.Second, Workers: 8, Prove: true, Progress: t.Logf,
	})
	golden.Must(t, err)
	crossed := 0
	for _, row := range report.Matrix {
		if row.Kind == "Ingress.networking.k8s.io" {
			crossed += row.Objects
		}
	}
	if crossed != report.Crossed || crossed < 50 {
		t.Errorf("%d objects crossed in three clusters, and %d are in the matrix; want at least 50", report.Crossed, crossed)
	}
	for _, f := range report.Findings {
		if f.Sort == explorations.Defect && slices.Contains(f.Checks, string(survey.Update)) &&
			strings.Contains(f.Words, "spec.defaultBackend.service.name") && f.Proof == explorations.Shown {
			return
		}
	}
	t.Errorf("the Ingress that cannot be edited was not found; findings:\n%s", explorations.TextIn(report, 0))
}
