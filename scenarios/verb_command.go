package scenarios

import (
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func commandVerb() verb {
	return verb{
		name: "command", takesTime: true, ownExpect: true, asksOne: true,
		about:   func(s *Step) string { return strings.Join(s.Command.Run[:min(len(s.Command.Run), 1)], "") },
		check:   func(v *validator, c stepCheck) { checkCommand(v, c.step.Command, c.node) },
		results: []string{"stdout", "stderr"},
		within:  func(s *Step) *Duration { return &copied(&s.Command).Within },
	}
}

// Command runs a program on this machine. KUBECONFIG and NAMESPACE are set for it, and the variables of
// [Programs](#programs).
type Command struct {
	// Run is the program and its arguments; no shell interprets them. A program with a slash in its name is a file,
	// relative to the scenario's folder.
	Run []string `json:"run"`
	// Env adds environment variables.
	Env map[string]string `json:"env,omitempty"`
	// Stdin is the program's standard input.
	Stdin string `json:"stdin,omitempty"`
	// Shared states that the program changes nothing outside of the scenario's namespace, so that other scenarios can
	// share the cluster. Default: false.
	Shared bool `json:"shared,omitempty"`
	// Within is the time in which the command is repeated until it meets the expectation. Default: run once.
	Within Duration `json:"within,omitempty"`
	// Expect is the expected result of the program. Default: exit code 0.
	Expect *CommandExpect `json:"expect,omitempty"`
}

// CommandExpect is the expected result of a program.
type CommandExpect struct {
	// ExitCode of the program, 0 to 255. Default: 0.
	ExitCode int `json:"exitCode,omitempty"`
	// Stdout of the program.
	Stdout *Text `json:"stdout,omitempty"`
	// Stderr of the program.
	Stderr *Text `json:"stderr,omitempty"`
}

func checkCommand(v *validator, c *Command, n *yamltree.Node) {
	checkProgram(v, c.Run, c.Expect, n, "such as run: [kubectl, get, pods]")
	for _, name := range clusters.SortedKeys(c.Env) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			v.At(n.At("env").Key(name), "", "%q is not the name of an environment variable", words.Short(name))
		}
	}
}

// checkProgram checks the program to run and its expected result.
func checkProgram(v *validator, run []string, e *CommandExpect, n *yamltree.Node, example string) {
	if len(run) == 0 || run[0] == "" {
		v.At(n.At("run"), example, "there is no program")
	}
	if e == nil {
		return
	}
	at := n.Get("expect")
	if e.ExitCode < 0 || e.ExitCode > 255 {
		v.At(at.At("exitCode"), "", "no program exits with the code %d", e.ExitCode)
	}
	v.text(e.Stdout, at.At("stdout"))
	v.text(e.Stderr, at.At("stderr"))
}
