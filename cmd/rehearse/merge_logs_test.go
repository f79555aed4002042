package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/inlog"
)

// logOf returns the log of a pod whose shard wrote the folder.
func logOf(t *testing.T, pod, folder string) string {
	t.Helper()
	var log bytes.Buffer
	log.WriteString("✓ create 1.36.3\n")
	if _, err := inlog.Write(&log, pod, folder, "run.json", []string{"s/history.jsonl"}, inlog.Limit); err != nil {
		t.Fatal(err)
	}
	return log.String()
}

func TestMergeLogs(t *testing.T) {
	failed := func(at int64) func(*reports.Run) {
		return func(run *reports.Run) {
			run.Tracks[0].Scenarios[0].Status = reports.Error
			run.Finished = time.Unix(at, 0)
		}
	}
	first, again := logOf(t, "pod-0", written(t, 1, nil)), logOf(t, "pod-0-again", written(t, 1, failed(900)))
	later := logOf(t, "pod-0-again", written(t, 1, failed(1100)))
	second := logOf(t, "pod-1", written(t, 2, nil))
	foreign := logOf(t, "other-0", written(t, 1, func(run *reports.Run) { run.Shard.Plan = "another" }))
	for _, test := range []struct {
		name, log, want string
		code            int
	}{
		{"each once", second + first, "2 passed", cli.ExitOK},
		{"an attempt before it", first + again + second, "2 passed", cli.ExitOK},
		{"a later attempt", first + second + later, "ran more than once", cli.ExitBroken},
		{"of another run, too", first + second + foreign, "are not parts of the same run", cli.ExitInput},
		{"one is missing", second, "missing: 1/2", cli.ExitInput},
		{"cut", second + first[:len(first)-200], "the report of pod-0 has no end in this log", cli.ExitInput},
		{"no report", "hello\n", "is neither a run.json nor the log of a pod", cli.ExitInput},
	} {
		file := filepath.Join(t.TempDir(), "job.log")
		golden.Write(t, file, test.log)
		merged := filepath.Join(t.TempDir(), "merged")
		code, out, problems := command(t, "merge", file, "-o", merged)
		if said := out + problems; code != test.code || !strings.Contains(said, test.want) {
			t.Errorf("%s: exit code %d, want %d; it says %s, want %q", test.name, code, test.code, said, test.want)
		}
		if _, err := os.Stat(filepath.Join(merged, "shard-1", "s", "history.jsonl")); test.code != cli.ExitInput &&
			err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
