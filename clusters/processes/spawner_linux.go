package processes

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Spawner starts processes from one operating system thread that lives as long as the program: the kernel sends the
// parent-death signal when the *thread* that forked ends, not the process.
type Spawner struct {
	requests chan func()
	// isolated are the attributes that give a process its own hostname; nil if none work. They are tried once.
	isolated *syscall.SysProcAttr
	look     sync.Once
}

// NewSpawner returns a spawner. Its thread runs until Close.
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

// Close ends the spawner's thread, and so every process that it started and that is not detached.
func (s *Spawner) Close() { close(s.requests) }

// Start starts a process.
func (s *Spawner) Start(spec Spec) (*Process, error) {
	logFile, err := nextLogFile(spec.LogDir, spec.Name)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	defer logFile.Close()
	cmd, err := s.begin(spec, logFile)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	done := make(chan struct{})
	p := &Process{Name: spec.Name, PID: cmd.Process.Pid, LogFile: logFile.Name(), done: done}
	go func() {
		if awaitExit(p.PID) == nil {
			p.reaping.Lock()
			defer p.reaping.Unlock()
			// As long as the process is not reaped, its group is surely its own. What it has started ends with it.
			_ = killGroup(p.PID) // the group may be empty
		}
		p.err = cmd.Wait()
		close(done)
	}()
	return p, nil
}

// awaitExit returns when a child has ended. It does not reap the child.
func awaitExit(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// begin starts the program, with its own hostname if the machine allows that.
func (s *Spawner) begin(spec Spec, logFile *os.File) (*exec.Cmd, error) {
	isolated := syscall.SysProcAttr{}
	if spec.Hostname != "" && s.NamesHosts(spec.SetHostname) {
		isolated = *s.isolated
		line := append(slices.Clone(spec.SetHostname), spec.Hostname, spec.Program)
		spec.Program, spec.Args = line[0], append(line[1:], spec.Args...)
	}
	cmd := command(spec, logFile, isolated)
	return cmd, s.fork(cmd)
}

// NamesHosts reports whether a process can have its own hostname on this machine. It runs the command line that sets
// it (Spec.SetHostname) without a program: a machine may allow the namespace but not the name.
func (s *Spawner) NamesHosts(setHostname []string) bool {
	s.look.Do(func() {
		for _, way := range hostnames() {
			line := append(slices.Clone(setHostname), "tried")
			cmd := exec.Command(line[0], line[1:]...) //nolint:noctx // it ends by itself
			cmd.SysProcAttr = &way
			if s.fork(cmd) == nil && cmd.Wait() == nil {
				s.isolated = &way
				return
			}
		}
	})
	return s.isolated != nil
}

func (s *Spawner) fork(cmd *exec.Cmd) error {
	started := make(chan error)
	s.requests <- func() { started <- cmd.Start() }
	return <-started
}

// hostnames returns the ways to give a process its own hostname: as root, or as root of a new user namespace.
func hostnames() []syscall.SysProcAttr {
	asRoot := func(id int) []syscall.SysProcIDMap { return []syscall.SysProcIDMap{{HostID: id, Size: 1}} }
	return []syscall.SysProcAttr{
		{Cloneflags: syscall.CLONE_NEWUTS},
		{
			Cloneflags:  syscall.CLONE_NEWUTS | syscall.CLONE_NEWUSER,
			UidMappings: asRoot(os.Getuid()), GidMappings: asRoot(os.Getgid()),
		},
	}
}

// BecomeOnHost sets the hostname, which only this process sees, and replaces this process by the program. It returns
// only after an error, or if no program is given.
func BecomeOnHost(hostname string, command []string) error {
	if err := syscall.Sethostname([]byte(hostname)); err != nil {
		return fmt.Errorf("set the hostname: %w", err)
	}
	if len(command) == 0 {
		return nil
	}
	return fmt.Errorf("start %s: %w", command[0], syscall.Exec(command[0], command, os.Environ()))
}

func command(spec Spec, logFile *os.File, attributes syscall.SysProcAttr) *exec.Cmd {
	cmd := exec.Command(spec.Program, spec.Args...) //nolint:noctx // ended by Kill or with the parent, never by a context
	cmd.Env = slices.Concat(os.Environ(), NotInCluster(), spec.Env)
	if spec.Owner != "" {
		cmd.Env = append(cmd.Env, ownerVariable+"="+spec.Owner)
	}
	cmd.Dir = spec.Dir
	cmd.Stdout, cmd.Stderr = logFile, logFile
	attributes.Setpgid = true
	if !spec.Detached {
		attributes.Pdeathsig = syscall.SIGKILL
	}
	cmd.SysProcAttr = &attributes
	return cmd
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
