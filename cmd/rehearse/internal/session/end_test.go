package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// An interrupt is said once, and hides no other error.
func TestEndAfterAnInterrupt(t *testing.T) {
	interrupt := fmt.Errorf("create a cluster: %w", context.Canceled)
	full := errors.New("no space left")
	const alone = "interrupted; the reports list what did not run"
	const both = alone + "\nno space left"
	for name, test := range map[string]struct {
		failure error
		want    string
	}{
		"nothing else":     {interrupt, alone},
		"no report":        {errors.Join(interrupt, full), both},
		"joined twice":     {errors.Join(errors.Join(full, interrupt), interrupt), both},
		"only the reports": {full, both},
	} {
		t.Run(name, func(t *testing.T) {
			if err := End(cli.ExitInterrupted, test.failure); err.Error() != test.want {
				t.Errorf("got %q, want %q", err, test.want)
			}
		})
	}
}

// Reports of an earlier run must not look like those of a run that could not start. A mistake in the input keeps them.
func TestNotStarted(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		kept bool
		code int
	}{
		"wrong input":            {errors.New("line 3: unknown verb"), true, cli.ExitInput},
		"the cluster is away":    {fmt.Errorf("get its version: %w", clusters.ErrUnreachable), false, cli.ExitBroken},
		"a program is not built": {cli.Broken(errors.New("build it")), false, cli.ExitBroken},
		"an interrupt":           {context.Canceled, false, cli.ExitInput},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files := []string{filepath.Join(dir, "junit.xml"), filepath.Join(dir, "own.json")}
			for _, file := range files {
				golden.Must(t, os.WriteFile(file, []byte("passed"), 0o600))
			}
			err := NotStarted(test.err, []string{dir}, "own.json")
			if code := cli.CodeOf(err); code != test.code || !strings.Contains(err.Error(), test.err.Error()) {
				t.Errorf("exit code %d, %v; want %d, %v", code, err, test.code, test.err)
			}
			for _, file := range files {
				if _, err := os.Stat(file); (err == nil) != test.kept {
					t.Errorf("the earlier report: %v; want it to be kept: %t", err, test.kept)
				}
			}
		})
	}
}
