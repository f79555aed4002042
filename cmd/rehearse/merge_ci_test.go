package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/pastruns"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/matrices"
)

// withCells writes the matrix of a shard beside its run, and returns the folder.
func withCells(t *testing.T, dir string) string {
	t.Helper()
	run, _, err := pastruns.Read(dir)
	golden.Must(t, err)
	var cells []*matrices.Cell
	for n := 1; n <= run.Shard.Of; n++ {
		cells = append(cells, &matrices.Cell{
			Scenario: "s", Version: "v1", Kubernetes: fmt.Sprintf("1.3%d", n), Title: fmt.Sprint("s", n),
		})
	}
	report := matrices.New("lws", []string{"v1"}, []string{"1.31", "1.32"}, cells)
	report.OfShard(run)
	report.Judge(run)
	golden.Must(t, matrices.Write(dir, report, nil))
	return dir
}

// The merged run reaches the CI system, like that of one machine.
func TestMergedRunsAreHandedToTheCISystem(t *testing.T) {
	failed := func(r *reports.Run) {
		r.Tracks[0].Scenarios[0].Status, r.Tracks[0].Scenarios[0].File = reports.Failed, "x.yaml"
	}
	for name, shards := range map[string][]string{
		"runs":     {written(t, 1, nil), written(t, 2, failed)},
		"matrices": {withCells(t, written(t, 1, nil)), withCells(t, written(t, 2, failed))},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			summary, artifacts := filepath.Join(root, "summary.md"), filepath.Join(root, "artifacts")
			for variable, value := range map[string]string{
				"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": summary, "PROW_JOB_ID": "1", "ARTIFACTS": artifacts,
			} {
				t.Setenv(variable, value)
			}
			args := append([]string{"merge", "-o", filepath.Join(root, "merged")}, shards...)
			if out, want := exits(t, cli.ExitFailed, args...), "\n::error file=x.yaml,"; !strings.Contains(out, want) {
				t.Errorf("it says %q, want %q", out, want)
			}
			for file, want := range map[string]string{
				summary: "### Rehearse: 1 passed, 1 failed",
				filepath.Join(artifacts, "metadata.json"):     "1 passed, 1 failed",
				filepath.Join(artifacts, "rehearse-run.json"): `"s2"`,
			} {
				if text := golden.Read(t, file); !strings.Contains(text, want) {
					t.Errorf("%s: %s; want %q", file, text, want)
				}
			}
			if _, err := os.Stat(filepath.Join(artifacts, "junit_rehearse.xml")); err != nil {
				t.Error(err)
			}
		})
	}
}
