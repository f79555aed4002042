package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/explorations"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
	"github.com/rehearse-dev/rehearse/suites/faults"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// triedShard writes the report folder of a shard that tried one fault of two.
func triedShard(t *testing.T, number int, change func(*faults.Result)) string {
	t.Helper()
	names := []string{"early", "late"}
	result := &faults.Result{
		Head: reports.Head{
			Format: faults.Format, Program: "1", Started: time.Unix(1000, 0), Finished: time.Unix(1001, 0),
		},
		Suite: "gadgets", Shard: &reports.Shard{Number: number, Of: 2, Plan: "p"}, Trials: faults.Names{Faults: names},
		Faults: &faults.Matrix{Suite: "gadgets", Rows: []faults.Row{{
			Fault: simulators.Fault{Name: names[number-1], Breaks: []string{"A"}}, Scenarios: 1, Failed: []string{"x"},
			Caught: []string{"A"},
		}}},
	}
	if change != nil {
		change(result)
	}
	dir := t.TempDir()
	golden.Must(t, faults.Write(dir, result))
	return dir
}

func TestMergeFaults(t *testing.T) {
	uncaught := func(r *faults.Result) { r.Faults.Rows[0].Caught, r.Faults.Rows[0].Failed = nil, nil }
	for name, test := range map[string]struct {
		second func(*faults.Result)
		code   int
		says   string
		first  func(*faults.Result)
	}{
		"all is as demanded": {nil, cli.ExitOK, "gadgets: 2 of 2 faults caught", nil},
		"one is not caught": {
			uncaught, cli.ExitFailed, "fault late is not caught by any of 1 scenarios", nil,
		},
		"one is not caught, and one died": {
			func(r *faults.Result) { r.Faults, r.Finished = nil, time.Time{} }, cli.ExitBroken,
			"shard 2/2 ended early: its remaining scenarios are not judged\nfault early is not caught", uncaught,
		},
		"one died": {
			func(r *faults.Result) { r.Faults, r.Finished = nil, time.Time{} }, cli.ExitBroken,
			"no result, since the run ended early: fault late\nerror: shard 2/2 ended early", nil,
		},
		"another plan": {func(r *faults.Result) { r.Shard.Plan = "q" }, cli.ExitInput, "not parts of the same run", nil},
		"a later form": {func(r *faults.Result) { r.Format = 9 }, cli.ExitInput, "this rehearse reads format 1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			merged := filepath.Join(t.TempDir(), "merged")
			code, out, errs := command(t, "merge", triedShard(t, 2, test.second), triedShard(t, 1, test.first), "-o", merged)
			if said := out + errs; code != test.code || !strings.Contains(said, test.says) {
				t.Fatalf("exit code %d, want %d; it says %q, want %q", code, test.code, said, test.says)
			}
			_, err := os.Stat(filepath.Join(merged, faults.File))
			if wrote := err == nil; wrote != (code != cli.ExitInput) {
				t.Errorf("exit code %d, and the merged file: %v", code, err)
			}
		})
	}
}

// rehearsedShard writes the report folder of a shard that surveyed one kind of two.
func rehearsedShard(t *testing.T, number int, change func(*upgrades.Report)) string {
	t.Helper()
	kind := []string{"ConfigMap", "Ingress"}[number-1]
	report := &upgrades.Report{
		Head: reports.Head{
			Format: upgrades.Format, Program: "1", Started: time.Unix(1000, 0), Finished: time.Unix(1001, 0),
		},
		Shard: &reports.Shard{Number: number, Of: 2, Plan: "p"}, Objects: 2, Surveyed: 1,
		Path:     []*upgrades.State{{Name: "1.34.4", Way: upgrades.Start, Reached: true}},
		Findings: []*upgrades.Finding{}, Checks: []*upgrades.Check{{Name: "read", Kind: kind}},
		Matrix: []*upgrades.Row{{Kind: kind, Objects: 1, Cells: []upgrades.Cell{{Good: 1}}}},
	}
	if change != nil {
		change(report)
	}
	dir := t.TempDir()
	golden.Must(t, upgrades.Write(dir, report))
	return dir
}

func TestMergeUpgrades(t *testing.T) {
	breaks := func(r *upgrades.Report) {
		r.Findings = []*upgrades.Finding{{
			Severity: upgrades.Breaks, Check: "read", Kind: "Ingress", States: []int{0},
			Objects: []upgrades.Object{{Name: "Ingress a/b"}}, What: "it cannot be read",
		}}
		r.Checks[0].Severity, r.Matrix[0].Cells[0] = upgrades.Breaks, upgrades.Cell{Breaks: 1}
	}
	for name, test := range map[string]struct {
		second func(*upgrades.Report)
		code   int
		says   string
	}{
		"all is well":     {nil, cli.ExitOK, "1.34.4: 2 objects; 0 break, 0 change, 0 not judged\n"},
		"one breaks":      {breaks, cli.ExitFailed, "Ingress: it cannot be read"},
		"one has no work": {func(r *upgrades.Report) { r.Idle, r.Surveyed, r.Path[0].Reached = true, 0, false }, cli.ExitOK, ""},
		"one died": {
			func(r *upgrades.Report) { r.Finished, r.Path[0].Reached = time.Time{}, false }, cli.ExitBroken,
			"shard 2/2 ended early",
		},
		"another plan": {func(r *upgrades.Report) { r.Shard.Plan = "q" }, cli.ExitInput, "not parts of the same run"},
		"a later form": {func(r *upgrades.Report) { r.Format = 9 }, cli.ExitInput, "this rehearse reads format 1"},
	} {
		t.Run(name, func(t *testing.T) {
			merged := filepath.Join(t.TempDir(), "merged")
			code, out, errs := command(t, "merge", rehearsedShard(t, 2, test.second), rehearsedShard(t, 1, nil), "-o", merged)
			if said := out + errs; code != test.code || !strings.Contains(said, test.says) {
				t.Fatalf("exit code %d, want %d; it says %q, want %q", code, test.code, said, test.says)
			}
			_, err := os.Stat(filepath.Join(merged, "upgrade.json"))
			if wrote := err == nil; wrote != (code != cli.ExitInput) {
				t.Errorf("exit code %d, and the merged file: %v", code, err)
			}
		})
	}
}

// Two processes that merge into one folder would replace each other's reports.
func TestMergeIntoAFolderInUse(t *testing.T) {
	merged := t.TempDir()
	unlock, err := reports.LockFolder(merged)
	golden.Must(t, err)
	defer unlock()
	for what, shards := range map[string][]string{
		"run":     {written(t, 1, nil), written(t, 2, nil)},
		"faults":  {triedShard(t, 1, nil), triedShard(t, 2, nil)},
		"upgrade": {rehearsedShard(t, 1, nil), rehearsedShard(t, 2, nil)},
	} {
		code, _, errs := command(t, append(append([]string{"merge"}, shards...), "-o", merged)...)
		if code != cli.ExitBroken || !strings.Contains(errs, "another rehearse writes its reports") {
			t.Errorf("%s: exit code %d, want %d: %s", what, code, cli.ExitBroken, errs)
		}
	}
	if left, err := os.ReadDir(merged); err != nil || len(left) > 0 {
		t.Errorf("written into the folder: %v %v", left, err)
	}
}

// The reports of an earlier merge would look like those of a merge that failed. The reports to merge stay.
func TestAFailedMergeRemovesEarlierReports(t *testing.T) {
	of := func(number int) string {
		return written(t, number, func(r *reports.Run) { r.Command = fmt.Sprintf("rehearse run --shard=%d/2", number) })
	}
	merged, one, two := filepath.Join(t.TempDir(), "merged"), of(1), of(2)
	there := func(dir string) bool {
		_, err1 := os.Stat(filepath.Join(dir, "run.json"))
		_, err2 := os.Stat(filepath.Join(dir, "junit.xml"))
		return err1 == nil || err2 == nil
	}
	for _, shards := range [][]string{{one}, {one, filepath.Join(t.TempDir(), "none")}} {
		if _, _, errs := command(t, "merge", one, two, "-o", merged); !there(merged) {
			t.Fatal(errs)
		}
		code, _, errs := command(t, append([]string{"merge", "-o", merged}, shards...)...)
		if code != cli.ExitInput || there(merged) {
			t.Errorf("merge of %s: exit code %d: %s; the earlier reports are there: %t", shards, code, errs, there(merged))
		}
	}
	other := written(t, 1, func(r *reports.Run) { r.Command, r.Shard = "rehearse run a", nil })
	if code, _, errs := command(t, "merge", one, "none", "-o", other); code != cli.ExitInput || !there(other) {
		t.Errorf("exit code %d: %s; the reports of another command are there: %t", code, errs, there(other))
	}
	if code, _, errs := command(t, "merge", one, "none", "-o", one); code != cli.ExitInput || !there(one) {
		t.Errorf("exit code %d: %s; the shard's reports are there: %t", code, errs, there(one))
	}
}

// The results of several commands are not parts of one run, and are rejected.
func TestMergeOfSeveralCommands(t *testing.T) {
	both := written(t, 2, nil)
	data, err := os.ReadFile(filepath.Join(triedShard(t, 2, nil), faults.File))
	golden.Must(t, err)
	for _, c := range []struct {
		first, want string
	}{
		{triedShard(t, 1, nil), "they are not parts of the same run"},
		{written(t, 1, nil), "has the results of several commands"},
	} {
		code, _, errs := command(t, "merge", c.first, both, "-o", filepath.Join(t.TempDir(), "merged"))
		if code != cli.ExitInput || !strings.Contains(errs, c.want) {
			t.Errorf("exit code %d: %s, want %s", code, errs, c.want)
		}
		golden.Write(t, filepath.Join(both, faults.File), data)
	}
}

func TestFaultsRejectWrongInput(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"kai --shard 1/2", "--shard is for --try"},
		{"kai --try --shard 3/2", `--shard: shard "3/2": want NUMBER/ALL`},
		{"kubernetes --try", "suite kubernetes has no built-in simulator, and therefore no faults to try"},
		{"kai --try --kind liberties --only hint-never", `the simulator of suite kai has no liberty "hint-never"`},
		{"kai --try --kind faults --only more-metadata", `the simulator of suite kai has no fault "more-metadata"`},
		{"kai --try --kind bugs", `--kind "bugs": want faults or liberties`},
	} {
		rejected(t, "", append([]string{"faults"}, strings.Fields(c.args)...), c.want)
	}
}

// The shards of an exploration are merged, even one that died before it had any kind.
func TestMergeExplorations(t *testing.T) {
	explored := func(n int, finished time.Time) string {
		dir := t.TempDir()
		report := &explorations.Report{
			Head: reports.Head{
				Format: explorations.Format, Program: "1", Started: time.Unix(1000, 0), Finished: finished,
			},
			Shard: &reports.Shard{Number: n, Of: 2, Plan: "p"}, Crossed: n,
			Path: []*explorations.State{{Name: "1.34.4", Reached: !finished.IsZero()}},
		}
		golden.Must(t, explorations.Write(dir, report))
		return dir
	}
	for _, c := range []struct {
		second time.Time
		code   int
		says   string
	}{
		{time.Unix(1002, 0), cli.ExitOK, "1.34.4: 0 defects, 0 hazards; 3 objects crossed\n"},
		{time.Time{}, cli.ExitBroken, "shard 2/2 ended early"},
	} {
		merged := filepath.Join(t.TempDir(), "merged")
		code, out, errs := command(t, "merge", explored(1, time.Unix(1001, 0)), explored(2, c.second), "-o", merged)
		if said := out + errs; code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("exit code %d, want %d; it says %q, want %q", code, c.code, said, c.says)
		}
		for _, name := range []string{"explore.json", "report.html", "junit.xml"} {
			if _, err := os.Stat(filepath.Join(merged, name)); err != nil {
				t.Error(err)
			}
		}
	}
}
