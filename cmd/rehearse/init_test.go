package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/initialize"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// Lint accepts what init writes, and init overwrites it only with --force.
func TestInit(t *testing.T) {
	cacheOf(t, racing()...)
	const configMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: mine}}"
	for name, test := range map[string]struct {
		args string
		file string
		want []string
	}{
		"a gate":                {"--gate RacingPods", "racing-pods.yaml", []string{`version: "1.36"`, "locked to on"}},
		"in a version":          {"--gate RacingPods --version 1.34", "racing-pods.yaml", []string{`version: "1.34"`}},
		"a gate and an upgrade": {"--gate RacingPods --from 1.35 --to 1.36 -f -", "racing-pods.yaml", []string{"name: mine"}},
		"an upgrade":            {"--from 1.36 -f -", "upgrade-1-36-1-37.yaml", []string{"Old: Beta, on -> absent", `version: "1.37"`}},
		"a simulator": {
			"--system leaderworkerset -o x/lws.yaml",
			"x/lws.yaml",
			[]string{"simulated: {simulator: leaderworkerset}"},
		},
		"a system":         {"--system my-operator --to 1.37", "my-operator.yaml", []string{"command: [./my-operator]"}},
		"a defined system": {"--system mine=process:mine.yaml", "mine-scenario.yaml", []string{"./manager"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for name, text := range map[string]string{
				"mine.yaml": "name: mine\nprocess: {command: [./manager]}\n", "manager": "#!/bin/sh\n",
			} {
				golden.Write(t, name, text)
			}
			args := append([]string{"init"}, strings.Fields(test.args)...)
			var out, said bytes.Buffer
			if code := run(t.Context(), args, strings.NewReader(configMap), &out, &said); code != cli.ExitOK {
				t.Fatalf("exit code %d: %s", code, said.String())
			}
			if want := "wrote " + test.file + "\nnext:  rehearse run " + test.file + "\n"; out.String() != want {
				t.Errorf("it says %q, want %q", out.String(), want)
			}
			text := golden.Read(t, test.file)
			for _, want := range append(test.want, "FILL IN", "rehearse init --") {
				if !strings.Contains(text, want) {
					t.Errorf("it lacks %q:\n%s", want, text)
				}
			}
			exits(t, cli.ExitOK, "lint", test.file)
			rejected(t, configMap, args, "--force")
			if code := run(t.Context(), append(args, "--force"), strings.NewReader(configMap), &out, &said); code != cli.ExitOK {
				t.Errorf("with --force: %s", said.String())
			}
		})
	}
}

func TestInitSaysWhatIsWrong(t *testing.T) {
	cacheOf(t, racing()...)
	t.Chdir(t.TempDir())
	for name, test := range map[string]struct {
		args string
		want string
	}{
		"nothing":            {"", "--gate, --from and --to, --kep or --system"},
		"a misspelt gate":    {"--gate RacingPds", "did you mean RacingPods?"},
		"an unknown KEP":     {"--kep 1", "name its feature gate with --gate"},
		"nonsense":           {"--from new", "new"},
		"a system's file":    {"--system a=process:nowhere.yaml", "nowhere.yaml"},
		"a system's kind":    {"--system a=magic:x", "NAME=process:FILE"},
		"no file":            {"--from 1.36 -f nowhere.yaml", "nowhere.yaml"},
		"two ways":           {"--gate RacingPods --version 1.36 --from 1.36", "give either --version"},
		"a suite's bad name": {"suite My_Operator", "My_Operator"},
		"a suite, unnamed":   {"suite", "accepts 1 arg"},
	} {
		t.Run(name, func(t *testing.T) {
			rejected(t, "", append([]string{"init"}, strings.Fields(test.args)...), test.want)
		})
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
		t.Errorf("it wrote %v (%v)", entries, err)
	}
}

// Init finds the gate of a KEP in the KEP's own scenarios.
func TestInitKnowsTheGateOfAKEP(t *testing.T) {
	if gate, err := initialize.GateOf("5311"); err != nil || gate != "RelaxedServiceNameValidation" {
		t.Errorf("the gate of KEP-5311: %q, %v", gate, err)
	}
}

func TestInitAsks(t *testing.T) {
	for name, test := range map[string]struct {
		typed string
		want  map[string]string
		err   string
	}{
		"a gate": {"\nRacingPods\n5311\n\n", map[string]string{"gate": "RacingPods", "kep": "5311"}, ""},
		"needed": {"1\n\nRacingPods\n\n\n", map[string]string{"gate": "RacingPods"}, ""},
		"an upgrade": {"7\n2\n1.35\n1.36\nmine/\n", map[string]string{
			"from": "1.35", "to": "1.36",
			"filename": "[mine/]",
		}, ""},
		"a system":       {"3\nmine=process:mine.yaml\n\n", map[string]string{"system": "mine=process:mine.yaml"}, ""},
		"it ends":        {"2\n1.35\n", nil, "the input ended"},
		"it never began": {"", nil, "the input ended"},
	} {
		t.Run(name, func(t *testing.T) {
			command := initialize.Command(builtin.All().IsSimulator)
			var out bytes.Buffer
			next, err := initialize.Ask(command, strings.NewReader(test.typed), &out)
			if test.err != "" {
				golden.Error(t, err, test.err)
				return
			}
			if err != nil || next != nil {
				t.Fatalf("%v, a suite: %t", err, next != nil)
			}
			for flag, want := range test.want {
				if got := command.Flags().Lookup(flag).Value.String(); got != want {
					t.Errorf("--%s is %q, want %q", flag, got, want)
				}
			}
			if !strings.Contains(out.String(), "What is the scenario about?") {
				t.Errorf("it asks:\n%s", out.String())
			}
		})
	}
}

func TestInitSuite(t *testing.T) {
	cacheOf(t, racing()...)
	t.Chdir(t.TempDir())
	command := &cobra.Command{}
	command.SetOut(&bytes.Buffer{})
	command.SetErr(&bytes.Buffer{})
	next, err := initialize.Ask(command, strings.NewReader("4\nmy-operator\nyes\n"), &bytes.Buffer{})
	if err != nil || next == nil {
		t.Fatal(err)
	}
	golden.Must(t, next())
	if _, err := os.Stat(filepath.Join("my-operator", "simulator", "main.go")); err != nil {
		t.Error(err)
	}
	args := []string{"init", "suite", "my-operator"}
	rejected(t, "", args, "--force")
	out := exits(t, cli.ExitOK, append(args, "--force")...)
	if !strings.Contains(out, "next:  rehearse conformance ./my-operator\n") {
		t.Errorf("it says %s", out)
	}
}

// What init writes passes on real control planes, and its suite fails with the bug that the simulator can have.
func TestInitRuns(t *testing.T) {
	needsClusters(t)
	t.Chdir(t.TempDir())
	for _, args := range [][]string{
		{"init", "--gate", "RelaxedServiceNameValidation", "-o", "gate.yaml"},
		{"run", "gate.yaml"},
		{"init", "suite", "my-operator", "--simulator"},
		{"conformance", "./my-operator"},
	} {
		exits(t, cli.ExitOK, args...)
	}
	t.Setenv("BROKEN", "owners") // as in docs/init.md
	exits(t, cli.ExitFailed, "conformance", "./my-operator")
}
