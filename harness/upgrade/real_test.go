package upgrade_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/harness/upgrade"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

func TestMain(m *testing.M) {
	component.Main()
	os.Exit(m.Run())
}

// rehearse rehearses an upgrade, a rollback and a second upgrade, with the objects of files.
func rehearse(t *testing.T, from clusters.State, to clusters.Change, files ...string) *upgrades.Report {
	t.Helper()
	return travel(t, upgrade.Wanted{From: from, To: to}, files...)
}

// travel rehearses a path on three nodes.
func travel(t *testing.T, wanted upgrade.Wanted, files ...string) *upgrades.Report {
	t.Helper()
	return travelIn(t, planning.Shard{}, wanted, files...)
}

// travelIn rehearses one shard.
func travelIn(t *testing.T, shard planning.Shard, wanted upgrade.Wanted, files ...string) *upgrades.Report {
	t.Helper()
	p := clustertest.Local(t)
	objects, err := manifests.Sources{Paths: files}.Load()
	golden.Must(t, err)
	three := 3
	wanted.From.Nodes = []clusters.NodeGroup{{Count: &three}}
	path, err := upgrade.NewPath(t.Context(), p, wanted)
	golden.Must(t, err)
	var (
		mu    sync.Mutex
		heard []string
	)
	report, err := upgrade.Run(t.Context(), upgrade.Options{
		Provider: p, Path: path, Objects: objects, Namespace: "default", Settle: time.Second, Features: p.Releases,
		Shard: shard,
		Progress: func(format string, args ...any) {
			line := fmt.Sprintf(format, args...)
			t.Log(line)
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, line)
		},
	})
	golden.Must(t, err)
	t.Log(upgrades.Text(report))
	heardEarly(t, report, heard)
	return report
}

// heardEarly checks that each finding was printed before the cluster changed to the next state.
func heardEarly(t *testing.T, report *upgrades.Report, heard []string) {
	t.Helper()
	for _, f := range report.Findings {
		if f.Severity != upgrades.Breaks || f.Check == "control plane" {
			continue
		}
		start := strings.TrimSuffix(f.Line(), f.What)
		at := slices.IndexFunc(heard, func(line string) bool { return strings.HasPrefix(line, start) })
		surveys := 0
		for i, line := range heard {
			if i < at && strings.HasPrefix(line, "surveying ") {
				surveys++
			}
		}
		if at < 0 || surveys != f.State+1 {
			t.Errorf("%q was printed after %d surveys, want %d: %q", start, surveys, f.State+1, heard)
		}
	}
}

// said lists each object of each finding, with the severity, the checks, the states and the effect of the rollback.
func said(r *upgrades.Report) string {
	var all []string
	for _, f := range r.Findings {
		for _, o := range f.Objects {
			checks := strings.Join(append([]string{f.Check}, f.Checks...), "+")
			all = append(all, fmt.Sprintf("%s: %s %s %v %s", f.Severity, checks, o.Name, f.States, f.Back))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// Ordinary objects, in the style of well-maintained public charts, survive an upgrade and its rollback without
// findings. The only findings are about three other objects: Kubernetes 1.36 would reject them, although the stored
// ones continue to work (kubernetes#137053, #136582).
func TestUpgradeOfOrdinaryObjects(t *testing.T) {
	r := rehearse(t, clusters.State{Version: "1.35"}, clusters.Change{Version: "1.36"}, "../manifests/ordinary",
		"testdata/red/addresses.yaml", "testdata/red/numbers.yaml")
	want := strings.Join([]string{
		"breaks: create Gauge default/big [1 3] the rollback fixes it",
		"breaks: create NetworkPolicy default/host-bits [1 3] the rollback fixes it",
		"breaks: create Service default/zeros [1 3] the rollback fixes it",
		"changes: warning Service default/zeros [1 3] ",
	}, "\n")
	if got := said(r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, state := range r.Path {
		if !state.Reached {
			t.Errorf("%s was not reached", state.Name)
		}
	}
	for _, f := range r.Findings {
		if f.Severity == upgrades.Breaks && !strings.HasPrefix(f.Link, "https://") {
			t.Errorf("%s: the finding has no cause", f.What)
		}
		if f.Severity == upgrades.Breaks && f.Kind != "Gauge.red.example.com" &&
			!slices.Contains(f.Flips, "StrictIPCIDRValidation turns on") {
			t.Errorf("%s: StrictIPCIDRValidation is not among the gates %v", f.What, f.Flips)
		}
	}
}

// The shards of a rehearsal find together what one run finds. A shard without kinds passes.
func TestUpgradeInShards(t *testing.T) {
	path := upgrade.Wanted{
		From: clusters.State{Version: "1.35"}, To: clusters.Change{Version: "1.36"}, NoRollback: true,
	}
	files := []string{"testdata/red/addresses.yaml", "testdata/red/numbers.yaml"}
	whole := travel(t, path, files...)
	const shards = 5
	var parts []upgrades.Part
	idle := 0
	for n := range shards {
		part := travelIn(t, planning.Shard{Number: n + 1, Of: shards}, path, files...)
		parts = append(parts, upgrades.Part{Result: part, From: fmt.Sprint(n)})
		if part.Idle {
			idle++
		}
	}
	merged, err := upgrades.Merge(parts)
	golden.Must(t, err)
	if got, want := said(merged), said(whole); got != want || want == "" {
		t.Errorf("the shards find\n%s\nand one run\n%s", got, want)
	}
	if kinds := len(whole.Matrix); idle != max(shards-kinds, 0) || idle == 0 {
		t.Errorf("%d of %d shards have no kinds, and there are %d kinds", idle, shards, kinds)
	}
	if merged.Surveyed != whole.Surveyed || !reflect.DeepEqual(merged.Matrix, whole.Matrix) ||
		!reflect.DeepEqual(merged.Checks, whole.Checks) || merged.ExitCode() != whole.ExitCode() {
		t.Errorf("the shards say\n%s\nand one run\n%s", upgrades.Text(merged), upgrades.Text(whole))
	}
}

// An object that is accepted only while a gate is on (KEP-5311) is created while the gate is on. In 1.34, the rollback
// leaves it stuck (kubernetes#135425).
func TestUpgradeShowsWhatARollbackLeavesStuck(t *testing.T) {
	on := true
	r := rehearse(t, clusters.State{Version: "1.34"},
		clusters.Change{FeatureGates: map[string]*bool{"RelaxedServiceNameValidation": &on}}, "testdata/red/ingress.yaml")
	const want = "breaks: update+label+finalizer+apply+create Ingress default/digits [2 5] the next upgrade fixes it"
	if got := said(r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "RelaxedServiceNameValidation=true, and was created there") {
		t.Errorf("notes %q", r.Notes)
	}
}

// The older version may be unable to change what the newer version created. Here, objects are rolled out after the
// upgrade, and then the upgrade is rolled back.
func TestUpgradeFindsProblemsOfRecreatedObjects(t *testing.T) {
	r := rehearse(t, clusters.State{Version: "1.33"}, clusters.Change{Version: "1.34"}, "../../examples/upgrade/spread.yaml",
		"testdata/red/statefulset.yaml")
	const want = "breaks: moved StatefulSet default/web [5] the next upgrade was not rehearsed\n" +
		"breaks: update+label Deployment default/spread [5] the next upgrade was not rehearsed"
	if got := said(r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, f := range r.Findings {
		if f.Hop != "1.34.4 redeployed -> 1.33.13" {
			t.Errorf("%s: the hop is %s", f.What, f.Hop)
		}
	}
}
