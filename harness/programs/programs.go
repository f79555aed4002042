// Package programs runs the programs of scenarios, and compares their results with the expected ones.
package programs

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Ended is how a program ended.
type Ended struct {
	Code           int
	Stdout, Stderr Output
	// Err: the program could not be started, or did not end by itself.
	Err error
	// Missing: it can never be started.
	Missing bool
}

// Run runs a program with the environment until it ends, or until the context ends.
func Run(ctx context.Context, c scenarios.Command, env []string) Ended {
	if len(c.Run) == 0 {
		return Ended{Err: errors.New("there is no program"), Missing: true}
	}
	var stdout, stderr bounded
	command := exec.CommandContext(ctx, c.Run[0], c.Run[1:]...)
	command.Env, command.Stdout, command.Stderr = env, &stdout, &stderr
	command.Stdin = strings.NewReader(c.Stdin)
	// Processes that inherited the program's output must not block us.
	command.WaitDelay = time.Second
	err := processes.RunInGroup(command)
	e := Ended{Stdout: stdout.output(), Stderr: stderr.output()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		e.Err = fmt.Errorf("it did not exit in time and was killed: %w", context.Cause(ctx))
	case errors.As(err, &exit) && exit.Exited():
		e.Code = exit.ExitCode()
	case errors.Is(err, exec.ErrWaitDelay):
	case err != nil:
		e.Err, e.Missing = err, command.Process == nil
	}
	return e
}

// Compare returns how the end differs from the expected one; "" if it does not. Default: exit code 0. If it does not
// differ, undecided says what is unknown of an output that was cut.
func (e Ended) Compare(wanted *scenarios.CommandExpect) (differs, undecided string) {
	expect := scenarios.CommandExpect{}
	if wanted != nil {
		expect = *wanted
	}
	var problems, open []string
	if e.Code != expect.ExitCode {
		problems = append(problems, fmt.Sprintf("expected exit code %d, got %d", expect.ExitCode, e.Code))
	}
	for _, output := range []struct {
		name string
		got  Output
		want *scenarios.Text
	}{{"stdout", e.Stdout, expect.Stdout}, {"stderr", e.Stderr, expect.Stderr}} {
		if output.want == nil {
			continue
		}
		differs, undecided := output.got.unlike(*output.want)
		if differs != "" {
			problems = append(problems, output.name+" "+differs)
		}
		if undecided != "" {
			open = append(open, output.name+" "+undecided)
		}
	}
	if len(problems) > 0 {
		return strings.Join(problems, "; "), ""
	}
	return "", strings.Join(open, "; ")
}

// String returns the exit code and the output.
func (e Ended) String() string {
	return fmt.Sprintf("exit code %d\nstdout:\n%s\nstderr:\n%s", e.Code, indented(e.Stdout.String()),
		indented(e.Stderr.String()))
}

func indented(text string) string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return "  (nothing)"
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
