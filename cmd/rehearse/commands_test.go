package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/program"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

const (
	header = "apiVersion: rehearse.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n  cluster: {version: " +
		"\"1.35\"%s}\n  steps:\n"
	step = "  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.yaml")
	golden.Write(t, path, text)
	return path
}

func scenario(state string) string { return strings.Replace(header, "%s", state, 1) + step }

// needsClusters skips a test that starts clusters if the run is short.
func needsClusters(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("NOT RUN: it needs real control planes; make test-all, or go test without -short, runs it")
	}
}

// Wrong input is rejected before anything starts, with a sentence and exit code 2. Nothing is written.
func TestWrongInput(t *testing.T) {
	good := file(t, scenario(""))
	tests := map[string]struct {
		args string
		want []string
	}{
		"no file":                     {"run", []string{"name a file"}},
		"a file that is not there":    {"run nowhere.yaml", []string{"nowhere.yaml"}},
		"an empty folder":             {"run " + t.TempDir(), []string{"no *.yaml"}},
		"an unknown command":          {"rnu", []string{"unknown command", "run"}},
		"an unknown flag":             {"run --pararel 3 " + good, []string{"--pararel", "see rehearse run --help"}},
		"an unknown provider":         {"run --provider cloud " + good, []string{"cloud", "local"}},
		"an unknown source":           {"run --source magic " + good, []string{"magic", "build"}},
		"flags of another provider":   {"run --kubeconfig x " + good, []string{"--provider existing"}},
		"nothing selected by focus":   {"run --focus zzz " + good, []string{"no scenario is selected"}},
		"nothing selected by label":   {`run --label "a && b" ` + good, []string{"no scenario is selected"}},
		"a label expression is wrong": {`run --label "a &&" ` + good, []string{`--label "a &&" is not a label expression: want`}},
		"an unknown field": {
			"run " + file(t, strings.Replace(scenario(""), "steps", "stepz", 1)),
			[]string{"s.yaml:6:3", "stepz", "steps"},
		},
		"an unknown gate": {
			"plan " + file(t, scenario(", featureGates: {Bogus: true}")),
			[]string{"s.yaml:5", "Bogus", "1.35"},
		},
		"a skipped minor": {
			"plan " + file(t, scenario("")+"  - transition: {version: \"1.33\"}\n"),
			[]string{"s.yaml:8", "force: true"},
		},
		"no such cluster":             {"cluster delete never-made", []string{"never-made"}},
		"a cluster without a version": {"cluster create", []string{"version"}},
		"two schedulers for one name": {
			"cluster create --version 1.35 --scheduler default-scheduler",
			[]string{"both kube-scheduler and kube-scheduler/default-scheduler"},
		},
		"a scheduler without a name": {"cluster create --version 1.35 --scheduler =x.yaml", []string{"--scheduler =x.yaml"}},
		"a scheduler without a file": {
			"cluster create --version 1.35 --scheduler a=nowhere.yaml",
			[]string{"read --scheduler", "nowhere.yaml"},
		},
		"fetch nothing":  {"fetch", []string{"1.35"}},
		"fetch nonsense": {"fetch latest", []string{"latest"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			report := filepath.Join(t.TempDir(), "report")
			args := words(test.args)
			if args[0] == "run" && len(args) > 1 {
				args = append(args, "--report-dir", report)
			}
			rejected(t, "", args, test.want...)
			if _, statErr := os.Stat(report); statErr == nil {
				t.Error("it wrote a report")
			}
		})
	}
}

func TestLint(t *testing.T) {
	path := file(t, scenario(""))
	code, out, err := command(t, "lint", path)
	if code != cli.ExitOK || !strings.Contains(out, "1 scenario is well formed") ||
		strings.Contains(err, "covers no requirement") {
		t.Errorf("exit code %d; it says:\n%s%s", code, out, err)
	}
	rejected(t, "", []string{"lint", "--strict", path}, "covers no requirement")
}

func TestPlanStartsNothing(t *testing.T) {
	out := exits(t, cli.ExitOK, "plan", rehearsal)
	for _, want := range []string{"create 1.34", "then 1.35", "4 starts", "service-name-rollback"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q but:\n%s", want, out)
		}
	}
}

func TestSchemaIsJSON(t *testing.T) {
	if out := exits(t, cli.ExitOK, "schema"); !json.Valid([]byte(out)) {
		t.Errorf("it is no JSON:\n%s", out)
	}
}

func TestSchemaIsInstalled(t *testing.T) {
	t.Chdir(t.TempDir())
	golden.Write(t, "mine.yaml", scenario(""))
	if out := exits(t, cli.ExitOK, "schema", "--install", "mine.yaml"); !strings.Contains(out,
		"wrote .vscode/settings.json\nwrote mine.yaml\n") {
		t.Errorf("it says %s", out)
	}
	exits(t, cli.ExitOK, "lint", "mine.yaml")
	for _, wrong := range []string{"schema --install", "schema --install nowhere", "schema walk"} {
		exits(t, cli.ExitInput, strings.Fields(wrong)...)
	}
}

func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	for _, command := range program.New("rehearse", builtin.All()).Commands() {
		if command.Hidden || command.Name() == "help" || command.Name() == "completion" {
			continue
		}
		if command.Short == "" || command.Example == "" {
			t.Errorf("%s: short %q, example %q", command.CommandPath(), command.Short, command.Example)
		}
	}
}
