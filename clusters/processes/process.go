// Package processes runs child processes that do not outlive this program by accident: each in its own process group,
// with a log file for each start, watched until it exits.
package processes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// Spec is what to run.
type Spec struct {
	// Name of the process in messages and in its log files' names.
	Name string
	// Program is the path of the executable, Args are its arguments without the program's own name.
	Program string
	Args    []string
	// Env adds to this process's own environment.
	Env []string
	// Dir is the folder the process runs in.
	Dir string
	// LogDir is the folder for the log file.
	LogDir string
	// Owner is a text, a folder that only it uses, by which KillOwned finds the process where its command line does not
	// hold it.
	Owner string
	// Hostname is the name of the machine that the process sees; "" for the machine's own. Where the machine does not
	// allow it, the process sees the machine's own.
	Hostname string
	// SetHostname is the command line, without the program and its arguments, that gives the machine its name and becomes
	// the program (BecomeOnHost).
	SetHostname []string
	// Detached processes outlive this one; the others are killed with it, however it ends.
	Detached bool
}

// Process is a program that was started.
type Process struct {
	// Name, PID and LogFile never change.
	Name    string
	PID     int
	LogFile string

	done     <-chan struct{}
	err      error // how it ended; valid once done is closed
	expected atomic.Bool
}

// nextLogFile creates the log file of the next start: name-1.log, name-2.log, ... A slash in the name is a dash in
// the file's.
func nextLogFile(dir, name string) (*os.File, error) {
	name = strings.ReplaceAll(name, "/", "-")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for logs: %w", err)
	}
	for n := 1; ; n++ {
		file, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%s-%d.log", name, n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY,
			0o600)
		if !errors.Is(err, os.ErrExist) {
			return file, err
		}
	}
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Expected says whether the process was ended on purpose (Kill, Stop).
func (p *Process) Expected() bool { return p.expected.Load() }

// Failure describes the end of a process that nobody asked for, with its last lines. Call it after Done.
func (p *Process) Failure() error {
	cause := p.err
	if cause == nil {
		cause = errors.New("exit status 0")
	}
	return fmt.Errorf("%s (pid %d) ended by itself: %w; the end of %s:\n%s", p.Name, p.PID, cause, p.LogFile,
		LastLines(p.LogFile, 12))
}

// Kill ends the process and all of its group at once (SIGKILL) and returns when it is gone.
func (p *Process) Kill(ctx context.Context) error {
	p.expected.Store(true)
	if err := killGroup(p.PID); err != nil {
		return fmt.Errorf("kill %s (pid %d): %w", p.Name, p.PID, err)
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the end of %s (pid %d): %w", p.Name, p.PID, ctx.Err())
	}
}

// Stop asks the process and all of its group to end (SIGTERM), and kills what has not ended after a time. It returns
// when it is gone.
func (p *Process) Stop(ctx context.Context, grace time.Duration) error {
	p.expected.Store(true)
	if err := endGroup(p.PID); err != nil {
		return fmt.Errorf("stop %s (pid %d): %w", p.Name, p.PID, err)
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	case <-ctx.Done():
	}
	return p.Kill(ctx)
}

// Attach takes charge of a detached process that an earlier run started. It returns nil when that process is no more;
// owner is a text that the process's command line must contain, or that it was started for (Spec.Owner), so that a
// reused pid is never mistaken for it.
func Attach(name string, pid int, logFile, owner string) (*Process, error) {
	ended, err := awaitEnd(pid, func() bool { return runs(pid, owner) })
	if err != nil {
		return nil, fmt.Errorf("take charge of %s (pid %d): %w", name, pid, err)
	}
	if ended == nil {
		return nil, nil
	}
	return &Process{Name: name, PID: pid, LogFile: logFile, done: ended}, nil
}

// Alive says whether a process of that owner runs under the pid.
func Alive(pid int, owner string) bool { return runs(pid, owner) }
