package simulators_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"text/template"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites/simulators"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

func TestMain(m *testing.M) {
	component.Main()
	catalog().Main()
	if len(os.Args) == 6 && os.Args[1] == "gadgets" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if err := gadgets(ctx, os.Args[2], os.Args[3], os.Args[4], os.Args[5]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func catalog() simulators.Catalog { return simulators.Catalog{"widgets": widgets()} }

func options(t *testing.T) harness.PlanOptions {
	t.Helper()
	own, err := catalog().Own()
	golden.Must(t, err)
	return harness.PlanOptions{Simulators: own}
}

// library writes the scenario, and the files of its systems.
func library(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program, err := os.Executable()
	golden.Must(t, err)
	var text bytes.Buffer
	if err := template.Must(template.ParseFiles("testdata/scenarios.yaml.tmpl")).Execute(&text,
		map[string]string{"Program": program}); err != nil {
		t.Fatal(err)
	}
	webhooks := []byte(golden.Read(t, "testdata/gadgets-webhook.yaml"))
	// The API server rejects an annotation of that size, so client-side apply would fail.
	if err := writeCRD(filepath.Join(dir, "gadgets-crd.yaml"),
		crd("gadgets", "Gadget", strings.Repeat("long ", 60_000))); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"systems.yaml": text.Bytes(), "gadgets-webhook.yaml": webhooks} {
		golden.Write(t, filepath.Join(dir, name), data)
	}
	return filepath.Join(dir, "systems.yaml")
}

// All mistakes are reported at once, each with its position, before anything starts.
func TestRejectedBeforeAnythingStarts(t *testing.T) {
	set, err := scenarios.LoadBytes("x.yaml", []byte(`apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: wrong}
spec:
  cluster:
    version: "1.36"
    systems:
    - {name: widgets, simulated: {faults: [accepts-bat]}}
    - {name: pods, manifests: ["https://example.org/x.yaml"]}
  steps:
  - transition: {systems: [{name: widgets, simulated: {variant: other}}]}
  - transition: {systems: [{name: more, simulated: {}}, {name: gone, process: {command: [/no/such/program]}}]}
`))
	golden.Must(t, err)
	_, err = harness.NewPlan(t.Context(), clustertest.Local(t), set.Scenarios, options(t))
	for _, want := range []string{
		`x.yaml:5:3: system widgets: simulator widgets has no fault "accepts-bat"; it has: accepts-bad`,
		`x.yaml:5:3: system pods: a local cluster's nodes are simulated`,
		`x.yaml:11:5: system widgets: simulator widgets has no variant "other"; it has: only`,
		`x.yaml:12:5: system more: unknown simulator "more"; known: widgets`,
		`x.yaml:12:5: system gone: find its program`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
}

// ran returns the results of scenarios that must run to their end.
func ran(t *testing.T, p clusters.Provider, set *scenarios.Set, o harness.PlanOptions) *reports.Run {
	t.Helper()
	plan, err := harness.NewPlan(t.Context(), p, set.Scenarios, o)
	golden.Must(t, err)
	recorder := reports.NewRecorder(plan.Result(), clock.RealClock{})
	if err := harness.Execute(t.Context(), plan, harness.Options{
		Recorder: recorder, Progress: t.Logf, ReportDir: t.TempDir(),
	}); err != nil {
		t.Fatal(err)
	}
	return recorder.Run()
}

// TestOnARealCluster runs a simulated system and a process through their whole life: installed, killed, restarted,
// changed, kept during a restart of the API server, removed. The simulated system notes that it takes its liberty.
func TestOnARealCluster(t *testing.T) {
	set, err := scenarios.Load([]string{library(t)})
	golden.Must(t, err)
	p := clustertest.Local(t)
	o, notes := options(t), liberty.Notes(filepath.Join(t.TempDir(), "taken"))
	noting := o.Simulators["widgets"]
	noting.Command = append(noting.Command, "--"+simulators.TakenFlag, string(notes))
	o.Simulators["widgets"] = noting
	run := ran(t, p, set, o)
	if missing, err := notes.Missing([]string{"noted"}); err != nil || len(missing) > 0 {
		t.Errorf("no note of the liberties %q: %v", missing, err)
	}
	for _, track := range run.Tracks {
		for _, step := range track.Setup {
			t.Logf("%s %s: %s %s %v", step.Verb, step.Name, step.Status, step.Message, step.Duration())
			if step.Status != reports.Passed {
				t.Error("the step above did not pass")
			}
		}
		for _, s := range track.Scenarios {
			if s.Status != reports.Passed {
				t.Errorf("%s: %s\n%s", s.Name, s.Status, reports.Explain(s))
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(p.Root, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
