package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

const (
	header = "apiVersion: rehearse.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n  cluster: {version: " +
		"\"1.35\"%s}\n  steps:\n"
	step = "  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
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
		args []string
		want []string
	}{
		"no file":                  {[]string{"run"}, []string{"name a file"}},
		"a file that is not there": {[]string{"run", "nowhere.yaml"}, []string{"nowhere.yaml"}},
		"an empty folder":          {[]string{"run", t.TempDir()}, []string{"no *.yaml"}},
		"an unknown command":       {[]string{"rnu"}, []string{"unknown command", "run"}},
		"an unknown flag": {
			[]string{"run", "--pararel", "3", good},
			[]string{"--pararel", "see rehearse run --help"},
		},
		"an unknown provider":         {[]string{"run", "--provider", "cloud", good}, []string{"cloud", "local"}},
		"an unknown source":           {[]string{"run", "--source", "magic", good}, []string{"magic", "build"}},
		"flags of another provider":   {[]string{"run", "--kubeconfig", "x", good}, []string{"--provider existing"}},
		"nothing selected by focus":   {[]string{"run", "--focus", "zzz", good}, []string{"no scenario is selected"}},
		"nothing selected by label":   {[]string{"run", "--label", "a && b", good}, []string{"no scenario is selected"}},
		"a label expression is wrong": {[]string{"run", "--label", "a &&", good}, []string{"label filter"}},
		"an unknown field": {
			[]string{"run", file(t, strings.Replace(scenario(""), "steps", "stepz", 1))},
			[]string{"s.yaml:6:3", "stepz", "steps"},
		},
		"an unknown gate": {
			[]string{"plan", file(t, scenario(", featureGates: {Bogus: true}"))},
			[]string{"s.yaml:5", "Bogus", "1.35"},
		},
		"a skipped minor": {
			[]string{"plan", file(t, scenario("")+"  - transition: {version: \"1.33\"}\n")},
			[]string{"s.yaml:8", "force: true"},
		},
		"no such cluster":             {[]string{"cluster", "delete", "never-made"}, []string{"never-made"}},
		"a cluster without a version": {[]string{"cluster", "create"}, []string{"version"}},
		"two schedulers for one name": {[]string{
			"cluster", "create", "--version", "1.35", "--scheduler",
			"default-scheduler",
		}, []string{"both kube-scheduler and kube-scheduler/default-scheduler"}},
		"a scheduler without a name": {
			[]string{"cluster", "create", "--version", "1.35", "--scheduler", "=x.yaml"},
			[]string{"--scheduler =x.yaml"},
		},
		"a scheduler without a file": {
			[]string{"cluster", "create", "--version", "1.35", "--scheduler", "a=nowhere.yaml"},
			[]string{"read --scheduler", "nowhere.yaml"},
		},
		"fetch nothing":  {[]string{"fetch"}, []string{"1.35"}},
		"fetch nonsense": {[]string{"fetch", "latest"}, []string{"latest"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			report := filepath.Join(t.TempDir(), "report")
			args := test.args
			if args[0] == "run" && len(args) > 1 {
				args = append([]string{"run", "--report-dir", report}, args[1:]...)
			}
			var out, err bytes.Buffer
			if code := run(t.Context(), args, nil, &out, &err); code != cli.ExitInput {
				t.Errorf("exit code %d, want %d", code, cli.ExitInput)
			}
			for _, want := range test.want {
				if !strings.Contains(err.String(), want) {
					t.Errorf("it does not say %q but:\n%s", want, err.String())
				}
			}
			if _, statErr := os.Stat(report); statErr == nil {
				t.Error("it wrote a report")
			}
		})
	}
}

func TestLint(t *testing.T) {
	var out, err bytes.Buffer
	path := file(t, scenario(""))
	if code := run(t.Context(), []string{"lint", path}, nil, &out, &err); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, err.String())
	}
	if !strings.Contains(out.String(), "1 scenario is well formed") || strings.Contains(err.String(),
		"covers no requirement") {
		t.Errorf("it says:\n%s%s", out.String(), err.String())
	}
	if code := run(t.Context(), []string{"lint", "--strict", path}, nil, &out, &err); code != cli.ExitInput ||
		!strings.Contains(err.String(), "covers no requirement") {
		t.Errorf("with --strict: exit code %d, want %d: %s", code, cli.ExitInput, err.String())
	}
}

func TestPlanStartsNothing(t *testing.T) {
	var out, err bytes.Buffer
	if code := run(t.Context(), []string{"plan", rehearsal}, nil, &out, &err); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, err.String())
	}
	for _, want := range []string{"create 1.34", "then 1.35", "4 starts", "service-name-rollback"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q but:\n%s", want, out.String())
		}
	}
}

func TestSchemaIsJSON(t *testing.T) {
	var out, err bytes.Buffer
	if code := run(t.Context(), []string{"schema"}, nil, &out, &err); code != cli.ExitOK || !json.Valid(out.Bytes()) {
		t.Errorf("exit code %d, valid JSON: %t", code, json.Valid(out.Bytes()))
	}
}

func TestSchemaIsInstalled(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("mine.yaml", []byte(scenario("")), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	if code := run(t.Context(), []string{"schema", "--install", "mine.yaml"}, nil, &out, &said); code != cli.ExitOK ||
		!strings.Contains(out.String(), "wrote .vscode/settings.json\nwrote mine.yaml\n") {
		t.Errorf("exit code %d: %s%s", code, out.String(), said.String())
	}
	if code := run(t.Context(), []string{"lint", "mine.yaml"}, nil, &out, &said); code != cli.ExitOK {
		t.Errorf("the scenario is not well formed any more: %s", said.String())
	}
	for _, wrong := range [][]string{{"schema", "--install"}, {"schema", "--install", "nowhere"}, {"schema", "walk"}} {
		if code := run(t.Context(), wrong, nil, &out, &said); code != cli.ExitInput {
			t.Errorf("%v: exit code %d", wrong, code)
		}
	}
}

func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	for _, command := range newRootCommand().Commands() {
		if command.Hidden || command.Name() == "help" || command.Name() == "completion" {
			continue
		}
		if command.Short == "" || command.Example == "" {
			t.Errorf("%s: short %q, example %q", command.CommandPath(), command.Short, command.Example)
		}
	}
}
