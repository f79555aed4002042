package conformance

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
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

// report returns a report of one requirement.
func report(status conformances.Status) *conformances.Report {
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

// If a later run cannot be made, the verdicts of the earlier ones still count, and the error is not lost.
func TestRunsThatEndEarly(t *testing.T) {
	const passed, failed = conformances.Passed, conformances.Failed
	full := errors.New("write report.html: no space left on device")
	for name, c := range map[string]struct {
		runs    []conformances.Status
		failure error
		code    int
		says    []string
	}{
		"all runs": {[]conformances.Status{passed, passed, passed}, nil, cli.ExitOK, nil},
		"one run failed, and the next could not be made": {
			[]conformances.Status{passed, failed}, full, cli.ExitFailed, []string{full.Error(), "only 2 of 3 runs were made"},
		},
		"the second run could not be made": {
			[]conformances.Status{passed}, full, cli.ExitBroken, []string{full.Error(), "only 1 of 3 runs were made"},
		},
		"the merged run was not written": {
			[]conformances.Status{passed, failed, passed}, full, cli.ExitFailed, []string{full.Error()},
		},
		"no run": {nil, full, cli.ExitBroken, []string{full.Error()}},
	} {
		t.Run(name, func(t *testing.T) {
			f := settings{}
			f.Repeat = 3
			var list []*conformances.Report
			for _, status := range c.runs {
				list = append(list, report(status))
			}
			var out bytes.Buffer
			command := &cobra.Command{}
			command.SetOut(&out)
			command.SetContext(t.Context())
			err := (&suiteRun{settings: &f, suite: "gadgets"}).together(command, list, c.failure)
			if code := exits(err); code != c.code {
				t.Errorf("exit code %d, want %d: %v", code, c.code, err)
			}
			for _, want := range c.says {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %v, want %q", err, want)
				}
			}
			if len(list) > 0 && !strings.Contains(out.String(), "Core: ") {
				t.Errorf("it does not print the conclusions: %q", out.String())
			}
		})
	}
}

// A suite of a folder has the folder's name wherever its reports go, and no two suites share a name.
func TestNamesOfSuitesInFolders(t *testing.T) {
	dir := t.TempDir()
	f := settings{outputs: []string{dir}}
	f.Repeat = 1
	c := &suiteRun{settings: &f, suite: "./some/gadgets", name: "gadgets"}
	want := filepath.Join(dir, "gadgets.yaml")
	if written, err := c.write(report(conformances.Passed)); err != nil || !slices.Equal(written, []string{want}) {
		t.Errorf("%q, %v; want %s", written, err, want)
	}
	f.outputs = nil
	for names, fails := range map[string]bool{"kai ./mine": false, "kai ./kai": true, "./a/x ./b/x": true, "kai kai": true} {
		if err := f.check(strings.Fields(names)); (err != nil) != fails {
			t.Errorf("%s: %v", names, err)
		}
	}
}

// The exit code includes what the report does not contain: failed work on clusters, and a report that was not written.
func TestExitCodes(t *testing.T) {
	ended := func(verb string, status reports.Status) *reports.Run {
		return &reports.Run{Tracks: []*reports.Track{{
			Name:      "track-1",
			Setup:     []*reports.Step{{Verb: verb, Name: "cluster", Status: status, Message: "it is busy"}},
			Scenarios: []*reports.Scenario{{Name: "a", Status: reports.Passed}},
		}}}
	}
	scenario := func(status reports.Status) *reports.Run {
		return &reports.Run{Tracks: []*reports.Track{{
			Scenarios: []*reports.Scenario{{Name: "a", Status: status, Message: "the cluster is gone"}},
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
		"a scenario could not be judged after its requirements passed": {
			conformances.Passed,
			[]*reports.Run{scenario(reports.Error)},
			"", cli.ExitBroken, "scenario a is an error: the cluster is gone",
		},
		"a scenario did not run to its end": {
			conformances.Passed,
			[]*reports.Run{ended("delete", reports.Passed), scenario(reports.NotRun)},
			"", cli.ExitBroken, "scenario a did not run to its end: the cluster is gone",
		},
		"a known issue did not happen": {
			conformances.Passed,
			[]*reports.Run{{Tracks: []*reports.Track{{Scenarios: []*reports.Scenario{{
				Name: "a", Status: reports.Failed, Message: "it did not happen", KnownCovers: []string{"R1"},
			}}}}}},
			"", cli.ExitBroken, "scenario a failed: it did not happen",
		},
		"a scenario failed that decides no requirement": {
			conformances.Passed,
			[]*reports.Run{scenario(reports.Failed)},
			"", cli.ExitBroken,
			"scenario a failed: the cluster is gone",
		},
		"a scenario was skipped": {
			conformances.Passed, []*reports.Run{scenario(reports.Skipped)}, "", cli.ExitOK, "",
		},
		"a scenario could not be judged, and a requirement failed": {
			conformances.Failed, []*reports.Run{scenario(reports.Error)}, "", cli.ExitFailed, "",
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
