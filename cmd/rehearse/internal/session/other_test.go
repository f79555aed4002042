package session

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/ci"
	"github.com/rehearse-dev/rehearse/reports/page"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

func upgraded(change func(*upgrades.Report)) *upgrades.Report {
	r := &upgrades.Report{Surveyed: 1, Path: []*upgrades.State{{Name: "1.35.4", Reached: true}}}
	if change != nil {
		change(r)
	}
	return r
}

func reportIn(dir string, of *upgrades.Report) Report[*upgrades.Report] {
	return Report[*upgrades.Report]{
		Of: of, Dir: dir, Write: upgrades.Write, Page: page.OfUpgrade, Markdown: upgrades.Markdown,
	}
}

// quiet is a command without output.
func quiet() *cobra.Command {
	command := &cobra.Command{}
	command.SetOut(io.Discard)
	return command
}

// exits returns the exit code of a command that ends with the error.
func exits(t *testing.T, err error) int {
	t.Helper()
	var exit *cli.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("the error has no exit code: %v", err)
	}
	if err == nil {
		return cli.ExitOK
	}
	return exit.Code
}

// An error beside the report does not hide a finding, and is printed. Without a finding, it decides the exit code.
func TestFindingsOutweighErrors(t *testing.T) {
	finding := func(r *upgrades.Report) {
		r.Findings = []*upgrades.Finding{{Severity: upgrades.Breaks, Kind: "ConfigMap", What: "it is gone"}}
	}
	broke := errors.New("the cluster was not deleted")
	file := filepath.Join(t.TempDir(), "file")
	golden.Write(t, file, "")
	for name, c := range map[string]struct {
		change  func(*upgrades.Report)
		failure error
		dir     string
		code    int
	}{
		"all is well":                      {nil, nil, t.TempDir(), cli.ExitOK},
		"an error":                         {nil, broke, t.TempDir(), cli.ExitBroken},
		"a finding":                        {finding, nil, t.TempDir(), cli.ExitFailed},
		"a finding and an error":           {finding, broke, t.TempDir(), cli.ExitFailed},
		"a finding that cannot be written": {finding, nil, file, cli.ExitFailed},
		"a success that cannot be written": {nil, nil, file, cli.ExitBroken},
		"not judged, and an error":         {func(r *upgrades.Report) { r.Surveyed = 0 }, broke, t.TempDir(), cli.ExitBroken},
		"interrupted, with a finding and an error": {func(r *upgrades.Report) {
			finding(r)
			r.Interrupted = true
		}, broke, t.TempDir(), cli.ExitInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			err := reportIn(c.dir, upgraded(c.change)).Finish(quiet(), c.failure)
			if code := exits(t, err); code != c.code {
				t.Errorf("exit code %d, want %d: %v", code, c.code, err)
			}
			if c.failure != nil && !errors.Is(err, c.failure) {
				t.Errorf("the error is %v, which does not contain %v", err, c.failure)
			}
			if c.dir == file && (err == nil || !strings.Contains(err.Error(), file)) {
				t.Errorf("the error is %v, which does not name %s", err, file)
			}
		})
	}
}

// The text and every file of the report say which error ended the work.
func TestTheReportSaysWhatEndedTheWork(t *testing.T) {
	dir := t.TempDir()
	r := reportIn(dir, upgraded(nil))
	r.Text = upgrades.TextIn
	command, out := quiet(), &strings.Builder{}
	command.SetOut(out)
	if code := exits(t, r.Finish(command, errors.New("no room"))); code != cli.ExitBroken {
		t.Errorf("exit code %d, want %d", code, cli.ExitBroken)
	}
	texts := map[string]string{"the output": out.String()}
	for _, name := range []string{"report.html", "upgrade.json", "upgrade.md", "junit.xml"} {
		texts[name] = golden.Read(t, filepath.Join(dir, name))
	}
	for name, text := range texts {
		if !strings.Contains(text, "it failed before its end") || !strings.Contains(text, "no room") {
			t.Errorf("%s lacks the error:\n%s", name, text)
		}
	}
}

// A planned report replaces every file of an earlier one.
func TestPlannedReportReplacesAnEarlierOne(t *testing.T) {
	dir := t.TempDir()
	golden.Must(t, reportIn(dir, upgraded(nil)).Finish(quiet(), nil))
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 4 {
		t.Fatalf("%v: the report has %d files, want 4", err, len(files))
	}
	before := map[string]string{}
	for _, file := range files {
		before[file.Name()] = golden.Read(t, filepath.Join(dir, file.Name()))
	}
	planned := upgraded(func(r *upgrades.Report) { r.Surveyed, r.Path[0].Reached = 0, false })
	end, err := reportIn(dir, nil).Begin(planned)
	golden.Must(t, err)
	if _, err := reportIn(dir, nil).Begin(planned); err == nil || !strings.Contains(err.Error(), "another rehearse") {
		t.Errorf("a second one began in the same folder: %v", err)
	}
	end()
	for name, old := range before {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(text) == old {
			t.Errorf("%s is still the old one: %v", name, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "junit.xml"))
	if err != nil || !strings.Contains(string(text), "0 of 1 states were reached") {
		t.Errorf("%v: junit.xml looks like a success:\n%s", err, text)
	}
}

// If the process is killed during the repetitions, nothing of an earlier run looks like their result. Other files stay.
func TestTimesRemovesEarlierReports(t *testing.T) {
	command := quiet()
	command.SetContext(t.Context())
	dir, f := t.TempDir(), RepeatFlag{Repeat: 2}
	old := []string{"run.json", "junit.xml", "report.html", "run-1/run.json", "run-7/junit.xml"}
	others := []string{"notes.txt", "run-7/notes.txt", "run-x/run.json"}
	for _, name := range append(slices.Clone(old), others...) {
		golden.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		golden.Must(t, os.WriteFile(filepath.Join(dir, name), []byte("passed"), 0o600))
	}
	killed := errors.New("killed")
	err := f.Times(command, ci.Report{Dir: dir}, func(int, string) (*reports.Run, error) { return nil, killed })
	if !errors.Is(err, killed) {
		t.Error(err)
	}
	for _, name := range old {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
	for _, name := range others {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A CI system gets the repetitions as one run.
func TestTimesPublishesOnce(t *testing.T) {
	artifacts := t.TempDir()
	t.Setenv("PROW_JOB_ID", "1")
	t.Setenv("ARTIFACTS", artifacts)
	command := quiet()
	command.SetContext(t.Context())
	f := RepeatFlag{Repeat: 2}
	golden.Must(t, f.Times(command, ci.Report{Dir: t.TempDir(), Part: "porch"}, func(n int, _ string) (*reports.Run, error) {
		status := map[int]reports.Status{1: reports.Failed, 2: reports.Passed}[n]
		return &reports.Run{
			Head:   reports.Head{Format: reports.Format, Started: time.Unix(1, 0), Finished: time.Unix(2, 0)},
			Tracks: []*reports.Track{{Scenarios: []*reports.Scenario{{Name: "a", Status: status}}}},
		}, nil
	}))
	run, err := reports.Read([]byte(golden.Read(t, filepath.Join(artifacts, "rehearse-run-porch.json"))))
	golden.Must(t, err)
	if run.Runs != 2 || reports.ExitCode(run) != reports.ExitFailed {
		t.Errorf("Prow got a run of %d runs, exit code %d; want both runs, one of which failed", run.Runs,
			reports.ExitCode(run))
	}
	if !strings.Contains(golden.Read(t, filepath.Join(artifacts, "metadata.json")), `"rehearse-result-porch"`) {
		t.Error("the metadata does not name the part")
	}
}

// Repetitions that ended early are no success: what is left did not run.
func TestTimesEndsEarly(t *testing.T) {
	broken := errors.New("it cannot be planned")
	for name, c := range map[string]struct {
		stopAfter, breakAt, runs int
		cut, early               bool
		err                      error
	}{
		"not interrupted":               {runs: 3},
		"before the end":                {stopAfter: 2, runs: 2, cut: true, early: true},
		"after the last":                {stopAfter: 3, runs: 3},
		"a later run cannot be planned": {breakAt: 2, runs: 1, early: true, err: broken},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			command := quiet()
			command.SetContext(ctx)
			dir, f, made := t.TempDir(), RepeatFlag{Repeat: 3}, 0
			err := f.Times(command, ci.Report{Dir: dir}, func(n int, _ string) (*reports.Run, error) {
				if n == c.breakAt {
					return nil, broken
				}
				if made = n; n == c.stopAfter {
					cancel()
				}
				return &reports.Run{
					Head:   reports.Head{Format: reports.Format, Started: time.Unix(1, 0), Finished: time.Unix(2, 0)},
					Tracks: []*reports.Track{{Scenarios: []*reports.Scenario{{Name: "a", Status: reports.Passed}}}},
				}, nil
			})
			if !errors.Is(err, c.err) || made != c.runs || f.Cut(command, made) != c.cut {
				t.Errorf("%v: %d runs, cut short %t; want %d, %t", err, made, f.Cut(command, made), c.runs, c.cut)
			}
			data := []byte(golden.Read(t, filepath.Join(dir, "run.json")))
			run, err := reports.Read(data)
			golden.Must(t, err)
			junit := golden.Read(t, filepath.Join(dir, "junit.xml"))
			if strings.Contains(junit, "<error") != c.early {
				t.Errorf("junit.xml has an error: %t, want %t:\n%s", !c.early, c.early, junit)
			}
			if run.Interrupted != c.early {
				t.Errorf("run.json says that it was interrupted: %t, want %t", run.Interrupted, c.early)
			}
		})
	}
}
