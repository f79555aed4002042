package processes

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

// Spawner starts processes from one operating system thread that lives as long as the program: the kernel's
// parent-death signal is sent when the *thread* that forked ends, not the process.
type Spawner struct {
	requests chan func()
}

// NewSpawner returns a spawner; there is one for a program.
func NewSpawner() *Spawner {
	s := &Spawner{requests: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for request := range s.requests {
			request()
		}
	}()
	return s
}

// Close ends the spawner, and with its thread every process that it started and that is not detached.
func (s *Spawner) Close() { close(s.requests) }

// Start starts a process.
func (s *Spawner) Start(spec Spec) (*Process, error) {
	logFile, err := nextLogFile(spec.LogDir, spec.Name)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	defer logFile.Close()
	cmd := exec.Command(spec.Program, spec.Args...) //nolint:noctx // ended by Kill or with the parent, never by a context
	cmd.Env = append(os.Environ(), spec.Env...)
	if spec.Owner != "" {
		cmd.Env = append(cmd.Env, ownerVariable+"="+spec.Owner)
	}
	cmd.Dir = spec.Dir
	cmd.Stdout, cmd.Stderr = logFile, logFile
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if !spec.Detached {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	started := make(chan error)
	s.requests <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	done := make(chan struct{})
	p := &Process{Name: spec.Name, PID: cmd.Process.Pid, LogFile: logFile.Name(), done: done}
	go func() {
		defer close(done)
		p.err = cmd.Wait()
	}()
	return p, nil
}

func killGroup(pid int) error { return signalGroup(pid, syscall.SIGKILL) }

func endGroup(pid int) error { return signalGroup(pid, syscall.SIGTERM) }

func signalGroup(pid int, signal syscall.Signal) error {
	err := syscall.Kill(-pid, signal)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// ownerVariable tells a process, and who looks for it, whom it was started for.
const ownerVariable = "REHEARSE_OWNER"

func runs(pid int, owner string) bool {
	cmdline, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	// A zombie's command line is empty: it has ended.
	if err != nil || owner == "" || len(cmdline) == 0 {
		return false
	}
	if bytes.Contains(cmdline, []byte(owner)) {
		return true
	}
	environment, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return err == nil && bytes.Contains(append([]byte{0}, environment...), []byte("\x00"+ownerVariable+"="+owner))
}

// KillOwned kills every process whose command line contains owner (a folder that only they use) or that was started
// for it, and says how many there were: what a run that was itself killed may have left.
func KillOwned(owner string) (int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, fmt.Errorf("look for left-over processes: %w", err)
	}
	killed := 0
	var errs []error
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() || !runs(pid, owner) {
			continue
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, fmt.Errorf("kill left-over process %d: %w", pid, err))
			continue
		}
		killed++
	}
	return killed, errors.Join(errs...)
}
