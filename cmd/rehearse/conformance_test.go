package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/conformances"
)

var somebody = []string{
	"--organization", "acme", "--project", "it's", "--url", "https://example.com", "--version", "1.2.3", "--contact",
	"@acme/a", "--contact", "@acme/b",
}

func TestConformanceWrongInput(t *testing.T) {
	nobody := filepath.Join(t.TempDir(), "r.yaml")
	lost := filepath.Join(t.TempDir(), "no", "r.yaml")
	other := written(t, 1, func(r *reports.Run) { r.Shard, r.Program = nil, "another" })
	several := written(t, 1, func(r *reports.Run) { r.Shard, r.Program, r.Runs = nil, cli.ProgramVersion(), 3 })
	moved := written(t, 1, func(r *reports.Run) {
		r.Shard, r.Program, r.Tracks[0].Path = nil, cli.ProgramVersion(), []string{"1.30.0"}
		r.Tracks[0].Scenarios[0].Name = "kai-cycles [webhook]"
	})
	for name, c := range map[string]struct {
		args string
		want []string
	}{
		"a profile of two suites": {"conformance kai kubernetes --profile webhook", []string{"need exactly one suite"}},
		"one report of all suites": {
			"conformance -o " + nobody + " " + strings.Join(somebody, " "),
			[]string{"it is not a folder", "each of the 8 suites"},
		},
		"one suite that is unknown": {"conformance kubernetes kia", []string{`no suite "kia"`}},
		"an unknown suite":          {"conformance kia", []string{`no suite "kia"`, "kai"}},
		"a report of nobody's": {
			"conformance kubernetes -o " + nobody + " --url x",
			[]string{"organization is missing", "--contact", `url "x" is not a URL`},
		},
		"a report that has no room": {
			"conformance kubernetes -o " + lost + " " + strings.Join(somebody, " "),
			[]string{"does not exist"},
		},
		"an unknown profile":       {"conformance kai --profile x", []string{`no profile "x"`, "webhook"}},
		"a suite without profiles": {"conformance kubernetes --profile x", []string{"no profiles"}},
		"an unknown liberty":       {"conformance kai --system kai=liberties:x", []string{`no liberty "x"`, "rehearse faults kai"}},
		"an unknown fault":         {"conformance kai --system kai=faults:x", []string{`no fault "x"`, "rehearse faults kai"}},
		"faults of nothing":        {"conformance kubernetes --system kai=faults:x", []string{"no simulator"}},
		"a system without a kind":  {"conformance kai --system kai=x.yaml", []string{"want NAME=process:FILE"}},
		"a system of another kind": {"conformance kai --system kai=magic:x.yaml", []string{`not "magic"`}},
		"a system that is not":     {"conformance kai --system kai=process:nowhere.yaml", []string{"nowhere.yaml"}},
		"a seed without cases":     {"conformance kai --seed 3", []string{"--seed needs --cases"}},
		"no number of cases":       {"conformance kai --cases -3", []string{"--cases needs a positive number"}},
		"a shard with a report": {
			"conformance kai --shard 1/2 -o " + nobody + " " + strings.Join(somebody, " "),
			[]string{"--shard cannot be combined with --output"},
		},
		"a shard that is none":      {"conformance kai --shard 3/2", []string{"--shard", `"3/2"`}},
		"times without a shard":     {"conformance kai --timings x", []string{"give --shard as well"}},
		"the run of several suites": {"conformance kai porch --of x", []string{"exactly one suite"}},
		"a run that is not":         {"conformance kai --of nowhere", []string{"--of", "nowhere"}},
		"the run of a shard":        {"conformance kai --of " + written(t, 1, nil), []string{"it is shard 1/2"}},
		"the run of several runs": {
			"conformance kai --of " + several,
			[]string{"it combines 3 runs of --repeat", "run-1"},
		},
		"the run of another program": {"conformance kai --of " + other, []string{"whose suite may differ"}},
		"the run of other states": {
			"conformance kai --of " + moved,
			[]string{"--of " + moved, "kai-cycles [webhook] went through 1.30.0, but these flags plan 1."},
		},
		"an unknown variant":        {"conformance porch --system porch=variant:x", []string{`"x"`}},
		"a variant of nothing":      {"conformance porch --system kai=variant:x", []string{"no simulator of a system"}},
		"requirements of nothing":   {"requirements x", []string{`no suite "x"`}},
		"faults of no suite":        {"faults", []string{"name one suite"}},
		"faults that are not tried": {"faults kai --only hint-never", []string{"--only is for --try"}},
		"one report":                {"conformance diff a.yaml", []string{"name two reports"}},
		"reports that are not":      {"conformance diff a.yaml b.yaml", []string{"a.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			report := filepath.Join(t.TempDir(), "report")
			args := strings.Fields(c.args)
			if args[0] == "conformance" && !strings.Contains(c.args, "diff") {
				args = append(args, "--report-dir", report)
			}
			rejected(t, "", args, c.want...)
			for _, path := range []string{report, nobody} {
				if _, statErr := os.Stat(path); statErr == nil {
					t.Errorf("it wrote %s", path)
				}
			}
		})
	}
}

// stopper interrupts a run at its first output.
type stopper struct {
	said bytes.Buffer
	stop func()
}

func (s *stopper) Write(data []byte) (int, error) {
	s.stop()
	return s.said.Write(data)
}

// The report of an interrupted run says that it was interrupted, and that what did not run was not tested.
func TestConformanceAfterAnInterrupt(t *testing.T) {
	needsClusters(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	yaml, page := filepath.Join(dir, "r.yaml"), filepath.Join(dir, "r.md")
	args := append([]string{
		"conformance", "kubernetes", "--report-dir", filepath.Join(dir, "report"), "-o", yaml, "-o",
		page,
	}, somebody...)
	out, err := stopper{stop: cancel}, bytes.Buffer{}
	if code := run(ctx, args, nil, &out, &err); code != cli.ExitInterrupted {
		t.Fatalf("exit code %d, want %d: %s%s", code, cli.ExitInterrupted, out.said.String(), err.String())
	}
	r := conformanceReport(t, yaml)
	if n := r.Core.Statistics; !r.Interrupted || r.Core.Result != conformances.Partial || n.Untested == 0 ||
		n.Untested != n.Total() {
		t.Errorf("interrupted %t, core %s: %s", r.Interrupted, r.Core.Result, n)
	}
	const want = `rehearse conformance kubernetes --contact=@acme/a --contact=@acme/b --organization=acme --project='it'\''s' --url=https://example.com --version=1.2.3`
	if r.Reproduce.Command != want {
		t.Errorf("to reproduce:\n%s\nwant:\n%s", r.Reproduce.Command, want)
	}
	if text, readErr := os.ReadFile(page); readErr != nil || !strings.HasPrefix(string(text),
		"# Conformance of acme/it's 1.2.3 with kubernetes") {
		t.Errorf("%v: %s", readErr, text)
	}
}

// Each of several suites has its own report, in a folder. An interrupt ends all of them.
func TestConformanceOfSeveral(t *testing.T) {
	needsClusters(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	args := append([]string{"conformance", "kubernetes", "kai", "--report-dir", filepath.Join(dir, "report"), "-o", dir},
		somebody...)
	out, errs := stopper{stop: cancel}, bytes.Buffer{}
	if code := run(ctx, args, nil, &out, &errs); code != cli.ExitInterrupted {
		t.Fatalf("exit code %d, want %d: %s%s", code, cli.ExitInterrupted, out.said.String(), errs.String())
	}
	r := conformanceReport(t, filepath.Join(dir, "kubernetes.yaml"))
	if !strings.HasPrefix(r.Reproduce.Command, "rehearse conformance kubernetes --contact") {
		t.Errorf("to reproduce: %s", r.Reproduce.Command)
	}
	if _, err := os.Stat(filepath.Join(dir, "report", "kubernetes", "junit.xml")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "kai.yaml")); err == nil {
		t.Error("there is a report of a suite that was not begun")
	}
}

// Two merged shards have the same report as one run, requirement by requirement.
func TestConformanceInShards(t *testing.T) {
	needsClusters(t)
	dir := t.TempDir()
	suite, err := filepath.Abs(filepath.Join("..", "..", "examples", "team-rules"))
	golden.Must(t, err)
	of := func(name string) string { return filepath.Join(dir, name) }
	exits(t, cli.ExitOK, append([]string{"conformance", suite, "--report-dir", of("whole"), "-o", of("whole.yaml")},
		somebody...)...)
	for _, number := range []string{"1", "2"} {
		exits(t, cli.ExitOK, "conformance", suite, "--shard", number+"/2", "--report-dir", of("shard-"+number))
	}
	exits(t, cli.ExitOK, "merge", of("shard-1"), of("shard-2"), "-o", of("merged"))
	exits(t, cli.ExitOK, append([]string{"conformance", suite, "--of", of("merged"), "-o", of("merged.yaml")}, somebody...)...)
	exits(t, cli.ExitOK, "conformance", "diff", of("whole.yaml"), of("merged.yaml"))
	for _, name := range []string{"whole.yaml", "merged.yaml"} {
		r := conformanceReport(t, of(name))
		if len(r.Requirements) == 0 {
			t.Fatalf("%s has no requirements", name)
		}
		for _, q := range r.Requirements {
			if q.Status != conformances.Passed {
				t.Errorf("%s: %s is %s", name, q.ID, q.Status)
			}
		}
	}
}

// A shard without a cluster says so, like that of a run.
func TestIdleShardOfASuite(t *testing.T) {
	out := exits(t, cli.ExitOK, "conformance", "kai", "--shard", "99/99", "--report-dir", t.TempDir())
	if want := "shard 99/99 has nothing to run"; !strings.Contains(out, want) {
		t.Errorf("it says %q, want %q", out, want)
	}
}

func TestConformanceDiff(t *testing.T) {
	mixed := filepath.Join("..", "..", "reports", "conformances", "testdata", "mixed.yaml")
	r := conformanceReport(t, mixed)
	r.Scenarios[2].Status, r.Requirements[1].Scenarios = conformances.Passed,
		conformances.Evidence{Passed: []string{"bad"}}
	r.Conclude()
	other := filepath.Join(t.TempDir(), "other.yaml")
	data, err := conformances.YAML(r)
	if err == nil {
		err = os.WriteFile(other, data, 0o600)
	}
	golden.Must(t, err)
	for _, c := range []struct {
		before, after string
		code          int
		want          string
	}{
		{mixed, mixed, cli.ExitOK, "no requirement differs"},
		{mixed, other, cli.ExitFailed, "G-2 (core): failed  ->  passed"},
	} {
		if out := exits(t, c.code, "conformance", "diff", c.before, c.after); !strings.Contains(out, c.want) {
			t.Errorf("it does not say %q but:\n%s", c.want, out)
		}
	}
}

// The requirements and faults of every suite can be shown in any folder, and no suite has a gap.
func TestRequirementsAndFaults(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, definition := range builtin.All() {
		t.Run(definition.Name, func(t *testing.T) {
			suite, err := definition.Load()
			golden.Must(t, err)
			out := exits(t, cli.ExitOK, "requirements", "--names", definition.Name)
			for _, want := range []string{"REQUIREMENT", "core", "scenario ", " scenarios; "} {
				if !strings.Contains(out, want) {
					t.Errorf("%q is missing in:\n%s", want, out)
				}
			}
			out = exits(t, cli.ExitOK, "faults", definition.Name)
			for _, fault := range suite.Faults {
				if !strings.Contains(out, fault.Sentence) {
					t.Errorf("fault %s is missing in:\n%s", fault.Name, out)
				}
			}
		})
	}
}
