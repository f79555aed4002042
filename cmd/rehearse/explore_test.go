package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/explorations"
	"github.com/rehearse-dev/rehearse/reports/page"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func TestExploreRejectsWrongInput(t *testing.T) {
	wrong := filepath.Join(t.TempDir(), "known.yaml")
	golden.Write(t, wrong, "known: [{id: a}]")
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"no path", nil, "give the states of the path"},
		{"one state", []string{"--path", "1.34"}, "want two states or more, --gates, or --upgrade"},
		{"no version", []string{"--path", "one,1.34"}, `version "one"`},
		{"no gate", []string{"--path", "1.34 A,1.35"}, `"A": want NAME=true or NAME=false`},
		{"nothing changes", []string{"--path", "1.34,1.34"}, "nothing changes"},
		{"two minors down", []string{"--path", "1.35,1.33"}, "--force allows it"},
		{
			"an upgrade of nothing",
			[]string{"--path", "1.34", "--upgrade", "my=process:../../docs/findings/none.yaml"},
			"none.yaml",
		},
		{"gates on a path", []string{"--path", "1.34,1.35", "--gates", "all"}, "want one state in --path"},
		{"a gate that is none", []string{"--path", "1.34", "--gates", "RelaxedServiceNames"}, "has no such gate"},
		{"a known finding without a reason", []string{"--path", "1.34,1.35", "--known", wrong}, "needs an id and a reason"},
		{
			"known findings that the report replaces",
			[]string{"--path", "1.34,1.35", "--known", wrong, "--report-dir", filepath.Dir(wrong)},
			"the report of this run would replace the file",
		},
		{"a shard that is none", []string{"--path", "1.34,1.35", "--shard", "3/2"}, `--shard: shard "3/2"`},
		{"known findings that are not there", []string{"--path", "1.34,1.35", "--known", "missing.yaml"}, "missing.yaml"},
	} {
		t.Run(test.name, func(t *testing.T) { rejected(t, "", append([]string{"explore"}, test.args...), test.want) })
	}
}

// rejected checks that a command rejects its input, and what it says.
func rejected(t *testing.T, stdin string, args []string, wants ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), args, strings.NewReader(stdin), &out, &errs); code != cli.ExitInput {
		t.Errorf("%s: exit code %d, want %d:\n%s%s", args, code, cli.ExitInput, &out, &errs)
	}
	for _, want := range wants {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("%s does not say %q but:\n%s", args, want, &errs)
		}
	}
}

// An operator that runs beside the objects is upgraded on the path. One that does not start is a finding.
func TestExploreBesideASystem(t *testing.T) {
	needsClusters(t)
	explored := func(next string) (int, string) {
		code, out, errs := command(t, "explore", "--path", "1.36.3", "--kinds", "ConfigMap", "--objects", "3", "--no-proof",
			"--settle", "100ms", "--system", "op=process:"+file(t, operatorFile), "--upgrade", "op=process:"+file(t, next),
			"--report-dir", t.TempDir())
		return code, out + errs
	}
	code, out := explored(strings.ReplaceAll(operatorFile, "v1", "v2"))
	want := "0 defects, 0 hazards; 4 objects crossed\n" // one of them is a twin
	if code != cli.ExitOK || !strings.Contains(out, want) {
		t.Errorf("exit code %d, no %q in\n%s", code, want, out)
	}
	code, out = explored("name: op\nversion: v2\nprocess: {command: [sh, -c, echo no such flag; exit 7], " +
		"ready: {tcp: $(HEALTH_ADDRESS)}}\n")
	for _, want := range []string{"system op does not come up", "no such flag"} {
		if code != cli.ExitFailed || !strings.Contains(out, want) {
			t.Errorf("exit code %d, no %q in\n%s", code, want, out)
		}
	}
}

// planned checks that a command can be planned, and what its plan says.
func planned(t *testing.T, args []string, stdin, want string) {
	t.Helper()
	var out, errs bytes.Buffer
	args = append(args, "--plan")
	code := run(t.Context(), args, strings.NewReader(stdin), &out, &errs)
	if code != cli.ExitOK || !strings.Contains(out.String(), want) {
		t.Errorf("%s: exit code %d, %s", args, code, errs.String())
	}
}

// words returns the arguments of a command line. Double quotes join several words into one.
func words(line string) []string {
	var all []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}

// docs/findings.md lists exactly the files of docs/findings, and each file names its failure as known.
func TestFindingsOfTheDocumentation(t *testing.T) {
	page := golden.Read(t, "../../docs/findings.md")
	listed := map[string]bool{}
	for _, link := range regexp.MustCompile(`\]\(findings/([^)]+\.yaml)\)`).FindAllStringSubmatch(page, -1) {
		listed[link[1]] = true
	}
	set, err := scenarios.LoadWith([]string{"../../docs/findings"}, nil)
	golden.Must(t, err)
	for _, s := range set.Scenarios {
		file := filepath.Base(s.Position.File)
		if !listed[file] {
			t.Errorf("docs/findings.md does not list %s", file)
		}
		delete(listed, file)
		if len(s.Spec.Known) != 1 || s.Spec.Known[0].Message == "" {
			t.Errorf("%s does not name its failure as known", file)
		}
	}
	for file := range listed {
		t.Errorf("docs/findings.md lists %s, which is not there", file)
	}
}

// What an exploration that is killed leaves cannot be mistaken for a success.
func TestPlannedExploration(t *testing.T) {
	report := explore.Planned(explore.Options{Path: []clusters.State{{Version: "1.35.4"}, {Version: "1.36.3"}}})
	if code := report.ExitCode(); code != cli.ExitBroken {
		t.Errorf("exit code %d, want %d", code, cli.ExitBroken)
	}
	junit, err := explorations.JUnit(report)
	if err != nil || !strings.Contains(string(junit), "0 of 2 states reached") || !strings.Contains(string(junit), "<error") {
		t.Errorf("%v:\n%s", err, junit)
	}
	if shown, err := page.OfExploration(report); err != nil || !strings.Contains(string(shown), "1.35.4 → 1.36.3") {
		t.Errorf("%v: the page does not show the path", err)
	}
}
