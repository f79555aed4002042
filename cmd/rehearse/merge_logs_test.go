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
	planned := logOf(t, "pod-0", written(t, 1, func(run *reports.Run) {
		run.Tracks[0].Scenarios[0].Status, run.Finished = reports.NotRun, time.Time{}
	}))
	cut := first[:len(first)-200] + "\n"
	for _, test := range []struct {
		name, log, want string
		code            int
		again           bool
	}{
		{"a planned run before it", planned + first + second, "2 passed", cli.ExitOK, false},
		{"it died", planned + second, "shard 1/2 ended early", cli.ExitBroken, false},
		{"it died twice", planned + planned + second, "shard 1/2 ended early", cli.ExitBroken, true},
		{
			"no attempt counts", planned + planned + second, "ran more than once: no attempt ended, and it is not judged",
			cli.ExitBroken, true,
		},
		{"it died while it reported", planned + cut + second, "shard 1/2 ended early", cli.ExitBroken, false},
		{"it died, and another attempt ended", planned + cut + planned + first + second, "2 passed", cli.ExitOK, true},
		{"in another order", first + planned + cut + second, "2 passed", cli.ExitOK, false},
		{"the beginning of the log is lost", planned[len(planned)-100:] + first + second, "2 passed", cli.ExitOK, false},
		{"each once", second + first, "2 passed", cli.ExitOK, false},
		{"an attempt before it", first + again + second, "2 passed", cli.ExitOK, true},
		{"a later attempt", first + second + later, "ran more than once", cli.ExitBroken, true},
		{"of another run, too", first + second + foreign, "are not parts of the same run", cli.ExitInput, false},
		{"one is missing", second, "missing: 1/2", cli.ExitInput, false},
		{"cut", second + first[:len(first)-200], "the report of pod-0 has no end in this log", cli.ExitInput, false},
		{"no report", "hello\n", "is neither a run.json nor the log of a pod", cli.ExitInput, false},
	} {
		file := filepath.Join(t.TempDir(), "job.log")
		golden.Write(t, file, test.log)
		merged := filepath.Join(t.TempDir(), "merged")
		code, out, problems := command(t, "merge", file, "-o", merged)
		if says := strings.Contains(problems, "shard 1/2 ran more than once"); says != test.again {
			t.Errorf("%s: it says that the shard ran more than once: %t; it says %s", test.name, says, problems)
		}
		if said := out + problems; code != test.code || !strings.Contains(said, test.want) {
			t.Errorf("%s: exit code %d, want %d; it says %s, want %q", test.name, code, test.code, said, test.want)
		}
		if _, err := os.Stat(filepath.Join(merged, "shard-1", "s", "history.jsonl")); test.code != cli.ExitInput &&
			err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
