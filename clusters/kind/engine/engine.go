// Package engine runs a container engine's command line: docker, nerdctl or podman.
package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// programs in the order in which kind looks for them.
var programs = []string{"docker", "nerdctl", "podman"}

// chooser is the environment variable that selects one of several engines for kind's own command.
const chooser = "KIND_EXPERIMENTAL_PROVIDER"

// Engine is a container engine that answered.
type Engine struct {
	// Program is docker, nerdctl or podman.
	Program string
}

// Detect returns the first engine that answers. If none does, the error says why the first does not, and what to do.
func Detect(ctx context.Context) (*Engine, error) {
	candidates := programs
	if chosen := os.Getenv(chooser); chosen != "" {
		if !slices.Contains(programs, chosen) {
			return nil, fmt.Errorf("%s=%s: want one of %s", chooser, chosen, strings.Join(programs, ", "))
		}
		candidates = []string{chosen}
	}
	var first error
	for _, program := range candidates {
		if _, err := exec.LookPath(program); err != nil {
			continue
		}
		e, err := answering(ctx, program)
		if err == nil {
			return e, nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = fmt.Errorf("kind clusters need a container engine, but none of %s is on the PATH: install one, or use "+
			"--provider local", strings.Join(candidates, ", "))
	}
	return nil, first
}

// answerTimeout is how long an engine may take to answer a question.
const answerTimeout = 30 * time.Second

// answering returns the engine of a program, if it answers.
func answering(ctx context.Context, program string) (*Engine, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	e := &Engine{Program: program}
	if program == "docker" {
		// Other engines can have a command of that name. kind would mistake them for Docker.
		said, err := e.Output(ctx, "-v")
		if err == nil && said != "" && !strings.HasPrefix(said, "Docker version") {
			return nil, fmt.Errorf("docker is another engine (docker -v: %s): use its own name (%s=podman or nerdctl)", said,
				chooser)
		}
	}
	if _, err := e.Output(ctx, "ps", "--quiet", "--last", "1"); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, fmt.Errorf("%s did not answer within %s: restart it, or use --provider local", program, answerTimeout)
		}
		return nil, explain(program, err)
	}
	return e, nil
}

// Use returns an engine that was used before: its program, and its endpoint at that time ("" for any).
func Use(ctx context.Context, program, endpoint string) (*Engine, error) {
	if !slices.Contains(programs, program) {
		return nil, fmt.Errorf("%q is not a container engine: want one of %s", program, strings.Join(programs, ", "))
	}
	if _, err := exec.LookPath(program); err != nil {
		return nil, fmt.Errorf("%s is not on the PATH: install it again", program)
	}
	e, err := answering(ctx, program)
	if err != nil {
		return nil, err
	}
	now := e.Endpoint(ctx)
	switch {
	case endpoint == "" || now == "" || now == endpoint:
		return e, nil
	case program == "docker":
		return nil, fmt.Errorf("docker was at %s, and is at %s now: set DOCKER_HOST=%s", endpoint, now, endpoint)
	}
	return nil, fmt.Errorf("%s had its containers in %s, and has them in %s now: run rehearse as the user whose they are",
		program, endpoint, now)
}

// Endpoint returns where docker's daemon or podman's storage is, to recognize the engine later; "" if it does not say.
func (e *Engine) Endpoint(ctx context.Context) string {
	ask := map[string][]string{
		"docker": {"context", "inspect", "--format", "{{.Endpoints.docker.Host}}"},
		"podman": {"info", "--format", "{{.Store.GraphRoot}}"},
	}[e.Program]
	if ask == nil {
		return ""
	}
	endpoint, err := e.Output(ctx, ask...)
	if err != nil {
		return ""
	}
	return endpoint
}

// explain says in one sentence why an engine did not answer.
func explain(program string, err error) error {
	said := strings.ToLower(err.Error())
	switch {
	case strings.Contains(said, "permission denied"):
		return fmt.Errorf("%s is running, but this user may not use it: join the group of its socket (docker: sudo "+
			"usermod -aG docker $USER, then log in again), or use --provider local: %w", program, err)
	case strings.Contains(said, "cannot connect") || strings.Contains(said, "is the docker daemon running") ||
		strings.Contains(said, "no such file"):
		return fmt.Errorf("%s is installed but its daemon does not answer: start it (sudo systemctl start %s), or use "+
			"--provider local: %w", program, program, err)
	}
	return fmt.Errorf("%s does not answer: %w", program, err)
}

// Error is a command of the engine that failed.
type Error struct {
	// Program and Args are the command line.
	Program string
	Args    []string
	// Said is what it wrote to its standard error, or to its output when that is empty.
	Said string
	// Err is how it ended.
	Err error
}

func (e *Error) Error() string {
	text := e.Program + " " + strings.Join(e.Args[:min(3, len(e.Args))], " ") + ": "
	if said := lastLines(e.Said, 3); said != "" {
		return text + said
	}
	return text + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Streams are a command's standard input and output; nil for none.
type Streams struct {
	In  io.Reader
	Out io.Writer
}

// Run runs a command of the engine.
func (e *Engine) Run(ctx context.Context, s Streams, args ...string) error {
	var out, said bytes.Buffer
	command := exec.CommandContext(ctx, e.Program, args...)
	command.Stdin, command.Stdout, command.Stderr = s.In, s.Out, &said
	if s.Out == nil {
		command.Stdout = &out
	}
	command.WaitDelay = 5 * time.Second
	// A Ctrl-C on the terminal must not reach the engine's client: only the command's context may end it.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err := command.Run()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s %s: %w", e.Program, strings.Join(args[:min(2, len(args))], " "), context.Cause(ctx))
	}
	if strings.TrimSpace(said.String()) == "" {
		said = out
	}
	return &Error{Program: e.Program, Args: args, Said: said.String(), Err: err}
}

// Output runs a command of the engine and returns what it printed, without the white space around it.
func (e *Engine) Output(ctx context.Context, args ...string) (string, error) {
	var out bytes.Buffer
	err := e.Run(ctx, Streams{Out: &out}, args...)
	return strings.TrimSpace(out.String()), err
}

// Exec runs a program in a container and returns what it printed.
func (e *Engine) Exec(ctx context.Context, container string, command ...string) (string, error) {
	return e.Output(ctx, append([]string{"exec", container}, command...)...)
}

// Shell runs a script in a container and returns what it printed.
func (e *Engine) Shell(ctx context.Context, container, script string, args ...string) (string, error) {
	return e.Exec(ctx, container, append([]string{"sh", "-euc", script, "sh"}, args...)...)
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(strings.Join(lines[max(0, len(lines)-n):], " / "))
}
