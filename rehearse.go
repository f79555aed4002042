// Package rehearse runs scenario files in Go tests, on real control planes:
//
//	func TestMain(m *testing.M) { rehearse.Main(m) }
//
//	func TestUpgrade(t *testing.T) { rehearse.Run(t, rehearse.Options{}, "testdata/upgrade.yaml") }
package rehearse

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind"
	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// Main is for TestMain. Components of local clusters, simulators, and the creation of some kind clusters, are processes
// of the test's own program: Main becomes one of them if the program's arguments say so, and otherwise runs the tests.
func Main(m *testing.M, own ...simulators.Catalog) {
	component.Main()
	kind.Main()
	for _, catalog := range own {
		catalog.Main()
	}
	os.Exit(m.Run())
}

// Options define where the scenarios run. The zero value means local clusters, and no simulators.
type Options struct {
	// Provider of the clusters. Default: local clusters.
	Provider clusters.Provider
	// Simulators that the scenarios' systems can be; they must be passed to Main, too.
	Simulators simulators.Catalog
	// Systems replace the systems of these names in the scenarios, as --system NAME=process:FILE does: for example the
	// real manager instead of its simulator. scenarios.LoadSystem reads a definition from a file.
	Systems map[string]clusters.System
	// ReportDir is where failed scenarios leave their artifacts. Default: nowhere.
	ReportDir string
}

// Run runs the scenarios of files and folders, which share clusters as in any run. Each is a subtest: it fails with
// the explanation that the terminal shows, and is skipped with a reason if the plan skips it. With -short all of them
// are skipped, since they need control planes.
func Run(t *testing.T, o Options, files ...string) *reports.Run {
	t.Helper()
	if testing.Short() {
		t.Skip("NOT RUN: scenarios need control planes; go test without -short runs them")
	}
	plan := o.plan(t, files)
	recorder := reports.NewRecorder(plan.Result(), clock.RealClock{})
	execution := harness.Options{
		Recorder: recorder, ReportDir: o.ReportDir, Progress: t.Logf, Environment: os.Environ(),
	}
	execution.Clusters, execution.SpareClusters = atOnce(t, plan)
	err := harness.Execute(t.Context(), plan, execution)
	result := recorder.Run()
	for _, track := range plan.Tracks {
		for _, entry := range track.Entries {
			t.Run(entry.Scenario.Title(), func(t *testing.T) { report(t, result, entry.Scenario.Title()) })
		}
	}
	for _, skipped := range plan.Skipped {
		t.Run(skipped.Scenario.Title(), func(t *testing.T) { t.Skip("NOT RUN: " + skipped.Why) })
	}
	if err = errors.Join(err, reports.SetupProblems(result)); err != nil {
		t.Error(err)
	}
	return result
}

// load reads the scenarios, and replaces their systems.
func (o Options) load(files []string) ([]*scenarios.Scenario, error) {
	loaded, err := scenarios.Load(files)
	if err != nil {
		return nil, err
	}
	set := loaded.Scenarios
	for _, name := range clusters.SortedKeys(o.Systems) {
		if set, err = scenarios.ReplaceSystem(set, name, o.Systems[name]); err != nil {
			return nil, fmt.Errorf("Options.Systems: %w", err)
		}
	}
	return set, nil
}

func (o Options) plan(t *testing.T, files []string) *harness.Plan {
	t.Helper()
	set, err := o.load(files)
	if err != nil {
		t.Fatal(err)
	}
	provider := o.Provider
	if provider == nil {
		if provider, err = local.Default(releases.Options{}, t.Logf); err != nil {
			t.Fatal(err)
		}
	}
	options := harness.PlanOptions{Snapshots: true, MayBeIdle: true}
	if options.Simulators, err = o.Simulators.Own(); err != nil {
		t.Fatal(err)
	}
	if options.Modules, err = releases.New(releases.Options{Progress: t.Logf}); err != nil {
		t.Fatal(err)
	}
	plan, err := harness.NewPlan(t.Context(), provider, set, options)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// atOnce returns how many clusters there is room for, and how many more while others only wait.
func atOnce(t *testing.T, plan *harness.Plan) (clusters, spare int) {
	t.Helper()
	room, err := planning.ThisMachine()
	if err != nil {
		t.Logf("one cluster at a time: %v", err)
		return 1, 0
	}
	return plan.AtOnce(room), plan.Spare(room)
}

func report(t *testing.T, result *reports.Run, title string) {
	t.Helper()
	known, err := reports.ForTest(result, title)
	if err != nil {
		t.Error(err)
	}
	if known != "" {
		t.Log("known issue: " + known)
	}
}
