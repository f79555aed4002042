package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/program"
)

// helpOf returns the help of all commands, if the program has that name.
func helpOf(t *testing.T, file string) string {
	t.Helper()
	var out bytes.Buffer
	root := program.New(file, builtin.All())
	var help func(*cobra.Command)
	help = func(command *cobra.Command) {
		command.SetOut(&out)
		if err := command.Help(); err != nil {
			t.Fatal(err)
		}
		for _, child := range command.Commands() {
			help(child)
		}
	}
	help(root)
	return out.String()
}

func TestHelpOfThePlugin(t *testing.T) {
	typed := regexp.MustCompile(`(kubectl )?\brehearse (run|plan|merge|cluster|conformance|upgrade|report|init)\b`)
	for file, want := range map[string]string{"/usr/bin/rehearse": "", "/usr/bin/kubectl-rehearse": "kubectl "} {
		found := typed.FindAllStringSubmatch(helpOf(t, file), -1)
		if len(found) < 20 {
			t.Errorf("%s: its help names %d commands", file, len(found))
		}
		for _, m := range found {
			if m[1] != want {
				t.Errorf("%s: its help says %q", file, m[0])
			}
		}
	}
}

func TestErrorOfThePlugin(t *testing.T) {
	var out, problems bytes.Buffer
	code := program.Execute(t.Context(), program.New("kubectl-rehearse", builtin.All()), []string{"run", "--no-such"}, nil, &out,
		&problems)
	if want := "see kubectl rehearse run --help"; code != cli.ExitInput || !strings.Contains(problems.String(), want) {
		t.Errorf("exit code %d: %s; want %q", code, problems.String(), want)
	}
}
