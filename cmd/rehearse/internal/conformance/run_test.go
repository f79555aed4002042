package conformance

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/conformances"
)

// exits returns the exit code of a command that ends with the error.
func exits(err error) int {
	var exit *cli.ExitError
	switch {
	case err == nil:
		return cli.ExitOK
	case errors.As(err, &exit):
		return exit.Code
	}
	return cli.ExitInput
}

// A suite that an interrupt left out is no success, and no failure of another suite hides the interrupt.
func TestSuitesInTurn(t *testing.T) {
	for name, c := range map[string]struct {
		stopAfter int
		codes     []int
		ran, want int
	}{
		"all are well":                {0, []int{0, 0, 0}, 3, cli.ExitOK},
		"one fails":                   {0, []int{0, 1, 3}, 3, cli.ExitFailed},
		"interrupted after the first": {1, []int{0, 0, 0}, 1, cli.ExitInterrupted},
		"interrupted after a failure": {2, []int{1, 0, 0}, 2, cli.ExitInterrupted},
		"interrupted after the last":  {3, []int{0, 0, 0}, 3, cli.ExitOK},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ran := 0
			err := inTurn(ctx, []*suiteRun{{suite: "a"}, {suite: "b"}, {suite: "c"}}, func(*suiteRun) error {
				code := c.codes[ran]
				if ran++; ran == c.stopAfter {
					cancel()
				}
				if code == cli.ExitOK {
					return nil
				}
				return &cli.ExitError{Code: code}
			})
			if code := exits(err); code != c.want || ran != c.ran {
				t.Errorf("exit code %d after %d suites, want %d after %d: %v", code, ran, c.want, c.ran, err)
			}
		})
	}
}

// The exit code includes what the report does not contain: failed work on clusters, and a report that was not written.
func TestExitCodes(t *testing.T) {
	report := func(status conformances.Status) *conformances.Report {
		e := conformances.Evidence{Passed: []string{"a"}}
		if status == conformances.Failed {
			e = conformances.Evidence{Failed: []string{"a"}}
		}
		r := &conformances.Report{
			Requirements: []conformances.Requirement{{ID: "G-1", Level: "core", Scenarios: e}},
			Scenarios:    []conformances.Scenario{{Name: "a", Status: status}},
		}
		r.Conclude()
		return r
	}
	ended := func(verb string, status reports.Status) *reports.Run {
		return &reports.Run{Tracks: []*reports.Track{{
			Name:      "track-1",
			Setup:     []*reports.Step{{Verb: verb, Name: "cluster", Status: status, Message: "it is busy"}},
			Scenarios: []*reports.Scenario{{Name: "a", Status: reports.Failed}},
		}}}
	}
	nowhere := filepath.Join(t.TempDir(), "none", "report.yaml")
	for name, c := range map[string]struct {
		status conformances.Status
		runs   []*reports.Run
		output string
		code   int
		says   string
	}{
		"all is well": {conformances.Passed, []*reports.Run{ended("delete", reports.Passed)}, "", cli.ExitOK, ""},
		"a cluster was not deleted": {
			conformances.Passed,
			[]*reports.Run{ended("delete", reports.Failed)},
			"", cli.ExitBroken,
			"cluster of track-1: delete cluster: it is busy",
		},
		"a cluster of the second run was not left": {
			conformances.Passed,
			[]*reports.Run{ended("leaving", reports.Passed), ended("leaving", reports.Error)},
			"",
			cli.ExitBroken, "it is busy",
		},
		"a requirement failed, too": {
			conformances.Failed, []*reports.Run{ended("delete", reports.Failed)}, "", cli.ExitFailed, "",
		},
		"the report was not written": {conformances.Passed, nil, nowhere, cli.ExitBroken, nowhere},
		"a requirement failed, and the report was not written": {
			conformances.Failed, nil, nowhere, cli.ExitFailed, nowhere,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := settings{}
			if c.output != "" {
				f.outputs = []string{c.output}
			}
			var out bytes.Buffer
			command := &cobra.Command{}
			command.SetOut(&out)
			err := (&suiteRun{settings: &f, suite: "gadgets", runs: c.runs}).finish(command, report(c.status), nil, nil)
			if code := exits(err); code != c.code {
				t.Errorf("exit code %d, want %d: %v", code, c.code, err)
			}
			if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("the error is %v, want %q", err, c.says)
			}
			if strings.Contains(out.String(), "report: "+nowhere) {
				t.Errorf("it names a report that was not written:\n%s", out.String())
			}
		})
	}
}
