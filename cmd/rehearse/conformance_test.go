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
	moved := written(t, 1, func(r *reports.Run) {
		r.Shard, r.Program, r.Tracks[0].Path = nil, cli.ProgramVersion(), []string{"1.30.0"}
		r.Tracks[0].Scenarios[0].Name = "kai-cycles [webhook]"
	})
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"a profile of two suites": {
			[]string{"conformance", "kai", "kubernetes", "--profile", "webhook"},
			[]string{"need exactly one suite"},
		},
		"one report of all suites": {
			append([]string{"conformance", "-o", nobody}, somebody...),
			[]string{"it is not a folder", "each of the 8 suites"},
		},
		"one suite that is unknown": {[]string{"conformance", "kubernetes", "kia"}, []string{`no suite "kia"`}},
		"an unknown suite":          {[]string{"conformance", "kia"}, []string{`no suite "kia"`, "kai"}},
		"a report of nobody's": {
			[]string{"conformance", "kubernetes", "-o", nobody, "--url", "x"},
			[]string{"organization is missing", "--contact", `url "x" is not a URL`},
		},
		"a report that has no room": {
			append([]string{"conformance", "kubernetes", "-o", lost}, somebody...),
			[]string{"is no folder"},
		},
		"an unknown profile": {
			[]string{"conformance", "kai", "--profile", "x"},
			[]string{`no profile "x"`, "webhook"},
		},
		"a suite without profiles": {[]string{"conformance", "kubernetes", "--profile", "x"}, []string{"no profiles"}},
		"an unknown liberty": {
			[]string{"conformance", "kai", "--system", "kai=liberties:x"},
			[]string{`no liberty "x"`, "rehearse faults kai"},
		},
		"an unknown fault": {
			[]string{"conformance", "kai", "--system", "kai=faults:x"},
			[]string{`no fault "x"`, "rehearse faults kai"},
		},
		"faults of nothing": {
			[]string{"conformance", "kubernetes", "--system", "kai=faults:x"},
			[]string{"no simulator"},
		},
		"a system without a kind": {
			[]string{"conformance", "kai", "--system", "kai=x.yaml"},
			[]string{"want NAME=process:FILE"},
		},
		"a system of another kind": {
			[]string{"conformance", "kai", "--system", "kai=magic:x.yaml"},
			[]string{`not "magic"`},
		},
		"a system that is not": {
			[]string{"conformance", "kai", "--system", "kai=process:nowhere.yaml"},
			[]string{"nowhere.yaml"},
		},
		"a seed without cases": {[]string{"conformance", "kai", "--seed", "3"}, []string{"--seed needs --cases"}},
		"no number of cases":   {[]string{"conformance", "kai", "--cases", "-3"}, []string{"--cases needs a positive number"}},
		"a shard with a report": {
			append([]string{"conformance", "kai", "--shard", "1/2", "-o", nobody}, somebody...),
			[]string{"--shard cannot be combined with --output"},
		},
		"a shard that is none":       {[]string{"conformance", "kai", "--shard", "3/2"}, []string{"--shard", `"3/2"`}},
		"times without a shard":      {[]string{"conformance", "kai", "--timings", "x"}, []string{"give --shard as well"}},
		"the run of several suites":  {[]string{"conformance", "kai", "porch", "--of", "x"}, []string{"exactly one suite"}},
		"a run that is not":          {[]string{"conformance", "kai", "--of", "nowhere"}, []string{"--of", "nowhere"}},
		"the run of a shard":         {[]string{"conformance", "kai", "--of", written(t, 1, nil)}, []string{"it is shard 1/2"}},
		"the run of another program": {[]string{"conformance", "kai", "--of", other}, []string{"whose suite may differ"}},
		"the run of other states": {
			[]string{"conformance", "kai", "--of", moved},
			[]string{"--of " + moved, "kai-cycles [webhook] went through 1.30.0, but these flags plan 1."},
		},
		"an unknown variant": {[]string{"conformance", "porch", "--system", "porch=variant:x"}, []string{`"x"`}},
		"a variant of nothing": {
			[]string{"conformance", "porch", "--system", "kai=variant:x"},
			[]string{"no simulator of a system"},
		},
		"requirements of nothing":   {[]string{"requirements", "x"}, []string{`no suite "x"`}},
		"faults of no suite":        {[]string{"faults"}, []string{"name one suite"}},
		"faults that are not tried": {[]string{"faults", "kai", "--only", "hint-never"}, []string{"--only is for --try"}},
		"one report":                {[]string{"conformance", "diff", "a.yaml"}, []string{"name two reports"}},
		"reports that are not":      {[]string{"conformance", "diff", "a.yaml", "b.yaml"}, []string{"a.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			report := filepath.Join(t.TempDir(), "report")
			args := c.args
			if args[0] == "conformance" && !strings.Contains(strings.Join(args, " "), "diff") {
				args = append(args[:len(args):len(args)], "--report-dir", report)
			}
			var out, err bytes.Buffer
			if code := run(t.Context(), args, nil, &out, &err); code != cli.ExitInput {
				t.Errorf("exit code %d, want %d: %s", code, cli.ExitInput, out.String())
			}
			for _, want := range c.want {
				if !strings.Contains(err.String(), want) {
					t.Errorf("it does not say %q but:\n%s", want, err.String())
				}
			}
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
	if err != nil {
		t.Fatal(err)
	}
	does := func(want int, args ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, nil, &out, &errs); code != want {
			t.Fatalf("%s: exit code %d, want %d: %s%s", args, code, want, out.String(), errs.String())
		}
	}
	of := func(name string) string { return filepath.Join(dir, name) }
	does(cli.ExitOK, append([]string{"conformance", suite, "--report-dir", of("whole"), "-o", of("whole.yaml")}, somebody...)...)
	for _, number := range []string{"1", "2"} {
		does(cli.ExitOK, "conformance", suite, "--shard", number+"/2", "--report-dir", of("shard-"+number))
	}
	does(cli.ExitOK, "merge", of("shard-1"), of("shard-2"), "-o", of("merged"))
	does(cli.ExitOK, append([]string{"conformance", suite, "--of", of("merged"), "-o", of("merged.yaml")}, somebody...)...)
	does(cli.ExitOK, "conformance", "diff", of("whole.yaml"), of("merged.yaml"))
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

func TestConformanceDiff(t *testing.T) {
	golden := filepath.Join("..", "..", "reports", "conformances", "testdata", "mixed.yaml")
	r := conformanceReport(t, golden)
	r.Scenarios[2].Status, r.Requirements[1].Scenarios = conformances.Passed,
		conformances.Evidence{Passed: []string{"bad"}}
	r.Conclude()
	other := filepath.Join(t.TempDir(), "other.yaml")
	data, err := conformances.YAML(r)
	if err == nil {
		err = os.WriteFile(other, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		before, after string
		code          int
		want          string
	}{
		{golden, golden, cli.ExitOK, "no requirement differs"},
		{golden, other, cli.ExitFailed, "G-2 (core): failed  ->  passed"},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), []string{"conformance", "diff", c.before, c.after}, nil, &out, &errs); code != c.code ||
			!strings.Contains(out.String(), c.want) {
			t.Errorf("exit code %d, want %d; it says:\n%s%s", code, c.code, out.String(), errs.String())
		}
	}
}

// The requirements and faults of every suite can be shown in any folder, and no suite has a gap.
func TestRequirementsAndFaults(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, definition := range builtin.Suites() {
		t.Run(definition.Name, func(t *testing.T) {
			suite, err := builtin.Load(definition)
			if err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			if code := run(t.Context(), []string{"requirements", "--names", definition.Name}, nil, &out, &errs); code != cli.ExitOK {
				t.Errorf("exit code %d: %s", code, errs.String())
			}
			for _, want := range []string{"REQUIREMENT", "core", "scenario ", " scenarios; "} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is missing in:\n%s", want, out.String())
				}
			}
			out.Reset()
			if code := run(t.Context(), []string{"faults", definition.Name}, nil, &out, &errs); code != cli.ExitOK {
				t.Errorf("exit code %d: %s", code, errs.String())
			}
			for _, fault := range suite.Faults {
				if !strings.Contains(out.String(), fault.Sentence) {
					t.Errorf("fault %s is missing in:\n%s", fault.Name, out.String())
				}
			}
		})
	}
}
