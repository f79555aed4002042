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
	"sync"
	"sync/atomic"
	"time"
)

// Spec describes a process to run.
type Spec struct {
	// Name of the process in messages and in the names of its log files.
	Name string
	// Program is the path of the executable, Args its arguments without the program's name.
	Program string
	Args    []string
	// Env is added to this process's environment.
	Env []string
	// Dir is the working folder of the process.
	Dir string
	// LogDir is the folder for the log file.
	LogDir string
	// Owner is a text, such as a folder that only this process uses. KillOwned finds the process by it, and the programs
	// that the process starts.
	Owner string
	// Hostname is the hostname that the process sees. Default: the machine's own, also if the machine does not allow
	// another one.
	Hostname string
	// SetHostname is the beginning of a command line that sets the hostname and then becomes the program (BecomeOnHost).
	// The hostname, the program and its arguments are appended.
	SetHostname []string
	// Detached processes outlive this one. The others are killed with it, however it ends.
	Detached bool
}

// Process is a started program.
type Process struct {
	// Name, PID and LogFile never change.
	Name    string
	PID     int
	LogFile string

	done     <-chan struct{}
	err      error // how it ended; valid as soon as done is closed
	expected atomic.Bool
	// reaping is held while a signal is sent, and while the process is reaped: then its pid may be reused.
	reaping sync.Mutex
}

// signal sends a signal with the given function. It returns os.ErrProcessDone, and sends nothing, if the process has
// ended.
func (p *Process) signal(send func(pid int) error) error {
	p.reaping.Lock()
	defer p.reaping.Unlock()
	select {
	case <-p.done:
		return os.ErrProcessDone
	default:
		return send(p.PID)
	}
}

// nextLogFile creates the log file of the next start: name-1.log, name-2.log, ... A slash in the name becomes a dash.
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

// Expected reports whether the process was ended on purpose (Kill, Stop).
func (p *Process) Expected() bool { return p.expected.Load() }

// Exit is how the process ended: exit status 1, or signal: killed. Call it after Done.
func (p *Process) Exit() error {
	if p.err == nil {
		return errors.New("exit status 0")
	}
	return p.err
}

// Failure describes an unexpected exit, with the last log lines. Call it after Done.
func (p *Process) Failure() error {
	return fmt.Errorf("%s (pid %d) ended by itself: %w; the end of %s:\n%s", p.Name, p.PID, p.Exit(), p.LogFile,
		LastLines(p.LogFile, 12))
}

// NotInCluster are environment variables with which a program does not take the cluster that Rehearse itself runs in
// for its own: in a pod, Kubernetes' client prefers that one to KUBECONFIG.
func NotInCluster() []string { return []string{"KUBERNETES_SERVICE_HOST=", "KUBERNETES_SERVICE_PORT="} }

// Kill kills the process and its whole group (SIGKILL), and returns when the process is gone.
func (p *Process) Kill(ctx context.Context) error {
	p.expected.Store(true)
	err := p.signal(killGroup)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("kill %s (pid %d): %w", p.Name, p.PID, err)
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the end of %s (pid %d): %w", p.Name, p.PID, ctx.Err())
	}
}

// Stop asks the process and its whole group to end (SIGTERM), and kills what has not ended after the grace time. It
// returns when the process is gone.
func (p *Process) Stop(ctx context.Context, grace time.Duration) error {
	p.expected.Store(true)
	err := p.signal(endGroup)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	if err != nil {
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

// errAttached is how an attached process ends: only the process that started it learns its exit status.
var errAttached = errors.New("its exit status is unknown")

// Attach attaches to a detached process of an earlier run. It returns nil if that process has ended. The process's
// command line must contain owner, or it must have been started for owner (Spec.Owner), so that a reused pid is never
// mistaken for it.
func Attach(name string, pid int, logFile, owner string) (*Process, error) {
	ended, err := awaitEnd(pid, func() bool { return runs(pid, owner) })
	if err != nil {
		return nil, fmt.Errorf("take charge of %s (pid %d): %w", name, pid, err)
	}
	if ended == nil {
		return nil, nil
	}
	return &Process{Name: name, PID: pid, LogFile: logFile, done: ended, err: errAttached}, nil
}

// Alive reports whether a process of that owner runs under the pid.
func Alive(pid int, owner string) bool { return runs(pid, owner) }
