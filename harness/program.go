package harness

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

// maxOutput is how much of a program's output is kept, of each stream.
const maxOutput = 1 << 20

// ran is how a program ended.
type ran struct {
	code           int
	stdout, stderr string
	// err: the program could not be started, or did not end by itself.
	err error
	// missing: it can never be started.
	missing bool
}

func runProgram(ctx context.Context, c scenarios.Command, env []string) ran {
	if len(c.Run) == 0 {
		return ran{err: errors.New("no program is named"), missing: true}
	}
	var stdout, stderr bounded
	command := exec.CommandContext(ctx, c.Run[0], c.Run[1:]...)
	command.Env, command.Stdout, command.Stderr = env, &stdout, &stderr
	command.Stdin = strings.NewReader(c.Stdin)
	// Whoever inherited the program's output must not keep us waiting.
	command.WaitDelay = time.Second
	err := runInGroup(command)
	r := ran{stdout: stdout.String(), stderr: stderr.String()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		r.err = fmt.Errorf("it did not end in time and was killed: %w", context.Cause(ctx))
	case errors.As(err, &exit) && exit.Exited():
		r.code = exit.ExitCode()
	case errors.Is(err, exec.ErrWaitDelay):
	case err != nil:
		r.err, r.missing = err, command.Process == nil
	}
	return r
}

// judgeProgram compares how a program ended with what is expected of it.
func judgeProgram(title string, wanted *scenarios.CommandExpect, r ran) try {
	t := try{evidence: r.String(), values: map[string]any{"stdout": r.stdout, "stderr": r.stderr}}
	if r.err != nil {
		t.undecided, t.final = true, r.missing
		t.problem = fmt.Sprintf("%s: %v\n%s", title, r.err, r)
		return t
	}
	expect := scenarios.CommandExpect{}
	if wanted != nil {
		expect = *wanted
	}
	var problems []string
	if r.code != expect.ExitCode {
		problems = append(problems, fmt.Sprintf("wanted exit code %d, got %d", expect.ExitCode, r.code))
	}
	if expect.Stdout != nil {
		if unlike := writes.Unlike(*expect.Stdout, r.stdout); unlike != "" {
			problems = append(problems, "stdout "+unlike)
		}
	}
	if expect.Stderr != nil {
		if unlike := writes.Unlike(*expect.Stderr, r.stderr); unlike != "" {
			problems = append(problems, "stderr "+unlike)
		}
	}
	if len(problems) > 0 {
		t.problem = fmt.Sprintf("%s: %s\n%s", title, strings.Join(problems, "; "), r)
	}
	return t
}

// String is how the program ended, with what it said.
func (r ran) String() string {
	return fmt.Sprintf("exit code %d\nstdout:\n%s\nstderr:\n%s", r.code, indented(r.stdout), indented(r.stderr))
}

func indented(text string) string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return "  (nothing)"
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	kept    bytes.Buffer
	dropped int
}

// Write keeps what there is room for, and takes the rest as well, so that the program does not stop.
func (b *bounded) Write(data []byte) (int, error) {
	room := min(len(data), maxOutput-b.kept.Len())
	b.dropped += len(data) - room
	b.kept.Write(data[:room])
	return len(data), nil
}

// String is what was kept, and says how much was not.
func (b *bounded) String() string {
	if b.dropped == 0 {
		return b.kept.String()
	}
	return fmt.Sprintf("%s\n(%d more bytes)", b.kept.String(), b.dropped)
}
