package e2eframework_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/e2e-framework/pkg/env"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"github.com/rehearse-dev/rehearse"
	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/e2eframework"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// created returns a running cluster, and an environment that uses it.
func created(t *testing.T, version string) (*e2eframework.Provider, env.Environment) {
	t.Helper()
	provider := e2eframework.New(clustertest.Local(t), clusters.State{Version: version})
	kubeconfig, err := provider.Create(t.Context())
	golden.Must(t, err)
	t.Cleanup(func() {
		if err := provider.Destroy(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return provider, env.NewWithConfig(envconf.NewWithKubeConfig(kubeconfig))
}

// Scenarios run on the provider's cluster beside steps in Go: a step sees what a transition did, and the cluster
// outlives the scenarios.
func TestScenariosBesideSteps(t *testing.T) {
	provider, environment := created(t, "1.36.3")
	version := func(want string) features.Func {
		return func(ctx context.Context, t *testing.T, c *envconf.Config) context.Context {
			if got := provider.Cluster().State().Version; !strings.HasPrefix(got, want) {
				t.Errorf("the cluster runs %s, want %s", got, want)
			}
			var all corev1.NamespaceList
			golden.Must(t, c.Client().Resources().List(ctx, &all))
			for _, one := range all.Items {
				if strings.Contains(one.Name, "budget-is-kept") {
					t.Errorf("the scenario left namespace %s", one.Name)
				}
			}
			return ctx
		}
	}
	feature := features.New("a rollback").
		Assess("before", version("1.36.3")).
		Assess("the rollback", provider.Scenarios(rehearse.Options{}, "testdata/rollback.yaml")).
		Assess("after", version("1.35.")).Feature()
	environment.Test(t, feature)
}

// failing says that TestFailing is to fail: the test below runs it in a process of its own.
const failing = "REHEARSE_TEST_FAILING"

// Each case fails; TestFailuresAreExplained looks at how.
func TestFailing(t *testing.T) {
	if os.Getenv(failing) == "" {
		t.Skip("TestFailuresAreExplained runs it")
	}
	provider, environment := created(t, "1.36.3")
	environment.Test(t, provider.Feature("a budget", rehearse.Options{}, "testdata/fails.yaml"))
	golden.Must(t, provider.Cluster().Converge(t.Context(), clusters.State{Version: "1.35.4"}))
	environment.Test(t, provider.Feature("another state", rehearse.Options{}, "testdata/fails.yaml"))
}

// A feature fails with the explanation of its scenario, or with the state that the scenario needs.
func TestFailuresAreExplained(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN: it needs a real control plane; go test without -short runs it")
	}
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestFailing$")
	command.Env = append(os.Environ(), failing+"=1")
	said, err := command.CombinedOutput()
	if err == nil {
		t.Errorf("a failed scenario does not fail the test:\n%s", said)
	}
	for _, want := range []string{
		"--- FAIL: TestFailing/a_budget/scenarios/rejects-a-budget", "create PodDisruptionBudget web was accepted",
		"testdata/fails.yaml:8:5",
		"--- FAIL: TestFailing/another_state/scenarios",
		`it is in the state {"version":"1.35.4","controlPlanes":1}, and the scenario begins in {"version":"1.36.3","controlPlanes":1}`,
	} {
		if !strings.Contains(string(said), want) {
			t.Errorf("the output lacks %q:\n%s", want, said)
		}
	}
}
