// Package programs runs the programs of scenarios, and compares their results with the expected ones.
package programs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// maxOutput is how many bytes of each output stream are kept.
const maxOutput = 1 << 20

// Ended is how a program ended.
type Ended struct {
	Code           int
	Stdout, Stderr string
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
	err := runInGroup(command)
	e := Ended{Stdout: stdout.String(), Stderr: stderr.String()}
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

// Unlike returns how the end differs from the expected one; "" if it does not. Default: exit code 0.
func (e Ended) Unlike(wanted *scenarios.CommandExpect) string {
	expect := scenarios.CommandExpect{}
	if wanted != nil {
		expect = *wanted
	}
	var problems []string
	if e.Code != expect.ExitCode {
		problems = append(problems, fmt.Sprintf("expected exit code %d, got %d", expect.ExitCode, e.Code))
	}
	for _, output := range []struct {
		name, got string
		want      *scenarios.Text
	}{{"stdout", e.Stdout, expect.Stdout}, {"stderr", e.Stderr, expect.Stderr}} {
		if output.want == nil {
			continue
		}
		if unlike := writes.Unlike(*output.want, output.got); unlike != "" {
			problems = append(problems, output.name+" "+unlike)
		}
	}
	return strings.Join(problems, "; ")
}

// String returns the exit code and the output.
func (e Ended) String() string {
	return fmt.Sprintf("exit code %d\nstdout:\n%s\nstderr:\n%s", e.Code, indented(e.Stdout), indented(e.Stderr))
}

func indented(text string) string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return "  (nothing)"
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}

// bounded keeps the beginning of the data.
type bounded struct {
	kept    bytes.Buffer
	dropped int
}

// Write keeps what fits, and drops the rest, so that the program does not block.
func (b *bounded) Write(data []byte) (int, error) {
	room := min(len(data), maxOutput-b.kept.Len())
	b.dropped += len(data) - room
	b.kept.Write(data[:room])
	return len(data), nil
}

// String returns what was kept, and how much was not.
func (b *bounded) String() string {
	if b.dropped == 0 {
		return b.kept.String()
	}
	return fmt.Sprintf("%s\n(%d more bytes)", b.kept.String(), b.dropped)
}

// Limited shortens an output as Run does: its beginning, and how much more there was.
func Limited(output []byte) string {
	var b bounded
	_, _ = b.Write(output) // it accepts everything
	return b.String()
}
