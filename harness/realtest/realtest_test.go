// Package realtest runs the harness on real control planes, and tests what fakes cannot show.
package realtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func TestMain(m *testing.M) {
	asProgram(os.Args)
	component.Main()
	kind.Main()
	os.Exit(m.Run())
}

// run executes scenarios and returns their results.
func run(t testing.TB, p clusters.Provider, text string, observers ...reports.Observer) *reports.Run {
	t.Helper()
	set, err := scenarios.LoadBytes("test.yaml", []byte(text))
	golden.Must(t, err)
	return execute(t, p, set, 1, observers...)
}

func execute(t testing.TB, p clusters.Provider, set *scenarios.Set, atOnce int,
	observers ...reports.Observer,
) *reports.Run {
	t.Helper()
	plan, err := harness.NewPlan(t.Context(), p, set.Scenarios, harness.PlanOptions{})
	golden.Must(t, err)
	recorder := reports.NewRecorder(plan.Result(), clock.RealClock{}, observers...)
	if err := harness.Execute(t.Context(), plan, harness.Options{
		Recorder: recorder, ReportDir: t.TempDir(),
		Clusters: atOnce,
	}); err != nil {
		t.Fatal(err)
	}
	return recorder.Run()
}

// explain returns what went wrong, for a test's message.
func explain(run *reports.Run) string {
	var text strings.Builder
	for _, track := range run.Tracks {
		for _, step := range track.Setup {
			fmt.Fprintf(&text, "%s: %s %s\n", step.Name, step.Status, step.Message)
		}
		for _, s := range track.Scenarios {
			fmt.Fprintf(&text, "%s: %s %s\n", s.Name, s.Status, s.Message)
			for _, step := range s.Steps {
				fmt.Fprintf(&text, "  %s: %s %s\n", step.Name, step.Status, step.Message)
			}
		}
	}
	return text.String()
}

// A restart of the API server does not disturb later steps. While the API server is down, an assertion is an error.
func TestAssertionsAroundARestartAndAKill(t *testing.T) {
	result := run(t, clustertest.Local(t), `
apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: around-a-restart-and-a-kill}
spec:
  cluster: {version: "1.35"}
  steps:
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: before}}
  - restart: {component: kube-apiserver}
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: first}}
  - eventually: {apiVersion: v1, kind: ConfigMap, name: first}
  - kill: {component: kube-apiserver}
  - name: not judged while the API server is down
    never: {apiVersion: v1, kind: ConfigMap, name: another, for: 200ms}
`)
	s := result.Tracks[0].Scenarios[0]
	for i, want := range []reports.Status{
		reports.Passed, reports.Passed, reports.Passed, reports.Passed, reports.Passed,
		reports.Error,
	} {
		if got := s.Steps[i].Status; got != want {
			t.Errorf("step %d is %s, want %s", i+1, got, want)
		}
	}
	if s.Status != reports.Error {
		t.Errorf("the scenario is %s, want error", s.Status)
	}
	if t.Failed() {
		t.Log(explain(result))
	}
}

// killer kills the API server unexpectedly when a step begins.
type killer struct {
	t    *testing.T
	root string
	step string
}

func (k *killer) Observe(e reports.Event) error {
	if e.Kind != reports.StepStarted || e.Step.Name != k.step {
		return nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		line, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if err != nil || !strings.Contains(string(line), k.root) ||
			!strings.Contains(strings.SplitN(string(line), "\x00", 2)[0], "kube-apiserver") {
			continue
		}
		var pid int
		if _, err := fmt.Sscan(entry.Name(), &pid); err == nil {
			return syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	k.t.Error("there is no API server to kill")
	return nil
}

// If the API server dies by itself during a waiting step, the step is an error with the reason at once: neither a
// pass nor a failure.
func TestDeathOfTheAPIServerIsNoVerdict(t *testing.T) {
	p := clustertest.Local(t)
	result := run(t, p, `
apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: loses-its-api-server}
spec:
  cluster: {version: "1.35"}
  timeout: 5m
  steps:
  - name: waits
    eventually: {apiVersion: v1, kind: ConfigMap, name: never-there}
`, &killer{t: t, root: p.Root, step: "waits"})
	s := result.Tracks[0].Scenarios[0]
	if s.Status != reports.Error || !strings.Contains(s.Steps[0].Message, "kube-apiserver") {
		t.Errorf("got %s, want an error that names kube-apiserver:\n%s", s.Status, explain(result))
	}
	if code := reports.ExitCode(result); code != reports.ExitError {
		t.Errorf("exit code %d, want %d", code, reports.ExitError)
	}
}

// A transition that a component rejects is an error in its own words for all scenarios on the track, within seconds.
func TestTransitionThatFails(t *testing.T) {
	result := run(t, clustertest.Local(t), `
apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: asks-for-nonsense}
spec:
  cluster: {version: "1.35"}
  steps:
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
  - transition: {components: {kube-controller-manager: {flags: {no-such-flag: "1"}}}}
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
`)
	s := result.Tracks[0].Scenarios[0]
	if s.Steps[1].Status != reports.Error || !strings.Contains(s.Steps[1].Message, "unknown flag: --no-such-flag") {
		t.Errorf("want kube-controller-manager's own words:\n%s", explain(result))
	}
	if s.Steps[2].Status != reports.NotRun {
		t.Errorf("the step after it is %s, want not run", s.Steps[2].Status)
	}
}
