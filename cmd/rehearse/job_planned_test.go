package main

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/reports/inlog"
)

// A shard of a Job prints its planned run and then its result. Here no cluster is left for the shard.
func TestShardsPrintTheirPlannedRun(t *testing.T) {
	t.Setenv("JOB_COMPLETION_INDEX", "998")
	for _, words := range []string{
		"run ../../scenarios/kubernetes/service-name-rollback.yaml", "conformance kai", "faults kai --try --kind liberties",
	} {
		out := exits(t, cli.ExitOK, append([]string{"job", "shard", "--of", "999", "--"}, strings.Fields(words)...)...)
		n := 0
		var reader inlog.Reader
		for line := range strings.Lines(out) {
			if _, report, err := reader.Line(line); err != nil {
				t.Error(err)
			} else if report != nil {
				n++
			}
		}
		if n != 2 {
			t.Errorf("%s: %d reports in the log, want 2", words, n)
		}
	}
}
