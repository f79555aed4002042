//go:build linux

package processes

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

func start(t *testing.T, s *Spawner, spec Spec) *Process {
	t.Helper()
	if spec.LogDir == "" {
		spec.LogDir = t.TempDir()
	}
	p, err := s.Start(spec)
	golden.Must(t, err)
	t.Cleanup(func() { _ = p.Kill(context.WithoutCancel(t.Context())) })
	return p
}

func TestFailureTellsTheLastLines(t *testing.T) {
	p := start(t, NewSpawner(),
		Spec{Name: "broken", Program: "/bin/sh", Args: []string{"-c", "echo no such flag >&2; exit 3"}})
	<-p.Done()
	got := p.Failure().Error()
	for _, want := range []string{"broken", "exit status 3", "no such flag", "broken-1.log"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	if p.Expected() {
		t.Error("nobody told it to end")
	}
}

func TestKillEndsTheWholeGroup(t *testing.T) {
	child := filepath.Join(t.TempDir(), "child")
	p := start(t, NewSpawner(),
		Spec{
			Name: "parent", Program: "/bin/sh",
			Args: []string{"-c", "sleep 1000 & echo $! > " + child + "; echo started; wait"},
		})
	awaitLine(t, p.LogFile, "started")
	pid := golden.Read(t, child)
	golden.Must(t, p.Kill(t.Context()))
	if !p.Expected() {
		t.Error("its end was expected")
	}
	number, _ := strconv.Atoi(strings.TrimSpace(pid))
	awaitGone(t, number)
}

// awaitGone waits until the child of a process that has ended is gone, too.
func awaitGone(t *testing.T, child int) {
	t.Helper()
	for range 1000 { // its new parent reaps it
		if !runs(child, "sleep") {
			return
		}
		_ = exec.CommandContext(t.Context(), "/bin/true").Run()
	}
	t.Errorf("the child %d of a process that has ended lives on", child)
}

func TestEachStartHasALogOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	s := NewSpawner()
	for _, want := range []string{"x-1.log", "x-2.log"} {
		p := start(t, s, Spec{Name: "x", Program: "/bin/true", LogDir: dir})
		<-p.Done()
		if filepath.Base(p.LogFile) != want {
			t.Errorf("log file %s, want %s", p.LogFile, want)
		}
		if info, err := os.Stat(p.LogFile); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("log file's mode: %v, %v; want 0600", info.Mode(), err)
		}
	}
}

func TestAttachTakesOnlyItsOwn(t *testing.T) {
	dir := t.TempDir()
	p := start(t, NewSpawner(),
		Spec{
			Name: "y", Program: "/bin/sh",
			Args: []string{"-c", "echo started; read x < " + dir + "/never; true", dir + "/"}, Detached: true,
		})
	awaitLine(t, p.LogFile, "")
	if other, err := Attach("y", p.PID, p.LogFile, "another folder"); other != nil || err != nil {
		t.Errorf("attached to a process of somebody else's: %v, %v", other, err)
	}
	if n, err := killOwned("another folder that nobody uses"); n != 0 || err != nil {
		t.Errorf("killed %d processes of nobody's, %v", n, err)
	}
}

// named starts a process that has the folder in its command line, without being started for it.
func named(t *testing.T, name, dir string) *Process {
	t.Helper()
	return start(t, NewSpawner(), Spec{Name: name, Program: "/bin/sh", Args: []string{"-c", "sleep 1000; true", dir}})
}

func ended(p *Process) bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

// What was started for a folder is killed, with what it has started. A program that only works with the folder lives
// on: kubectl with the cluster's kubeconfig, or a pager that shows a log.
func TestKillOwned(t *testing.T) {
	dir := t.TempDir() + "/"
	mine := start(t, NewSpawner(), Spec{
		Name: "mine", Program: "/bin/sh", Owner: dir,
		Args: []string{"-c", "setsid /bin/sh -c 'echo started; exec sleep 1000' & wait"},
	})
	awaitLine(t, mine.LogFile, "started")
	theirs := map[string]*Process{
		"another command line": named(t, "theirs", dir),
		"another environment": start(t, NewSpawner(),
			Spec{Name: "config", Program: "/bin/sleep", Args: []string{"1000"}, Env: []string{"KUBECONFIG=" + dir}}),
		"another owner": start(t, NewSpawner(),
			Spec{Name: "other", Program: "/bin/sleep", Args: []string{"1000"}, Owner: "/somewhere" + dir}),
	}
	if n, err := killOwned(dir); n != 2 || err != nil {
		t.Fatalf("killed %d, %v; want the process and its child", n, err)
	}
	<-mine.Done()
	for what, p := range theirs {
		if ended(p) {
			t.Errorf("killed a process that was not started for the folder: %s", what)
		}
	}
}

// Older versions started processes without their owner. Such a process is killed if its pid is recorded, and if it is
// still the same.
func TestKillOwnedKillsRecorded(t *testing.T) {
	dir := t.TempDir() + "/"
	old, other, reused := named(t, "old", dir), named(t, "other", dir), named(t, "reused", "/elsewhere/")
	if n, err := killOwned(dir, old.PID, reused.PID); n != 1 || err != nil {
		t.Fatalf("killed %d, %v; want one", n, err)
	}
	<-old.Done()
	if ended(other) || ended(reused) {
		t.Errorf("killed a process that is not recorded: %t; one that has a recorded pid: %t", ended(other), ended(reused))
	}
}

// A process with its own hostname, which may be in a namespace of its own, is found by its owner, too.
func TestKillOwnedWithHostname(t *testing.T) {
	dir := t.TempDir() + "/"
	p := start(t, NewSpawner(), Spec{
		Name: "named", Program: "/bin/sh", Args: []string{"-c", "echo started; exec sleep 1000"}, Owner: dir,
		Hostname: "elsewhere", SetHostname: []string{"/bin/sh", "-c", `hostname "$0" && exec "$@"`},
	})
	awaitLine(t, p.LogFile, "started")
	if n, err := killOwned(dir); n != 1 || err != nil {
		t.Fatalf("killed %d, %v; want one", n, err)
	}
	<-p.Done()
}

// The kernel shows neither the command line nor the environment of a process while it becomes another program. It is
// found all the same.
func TestOwnedIsFoundWhileItBecomesAnotherProgram(t *testing.T) {
	dir := t.TempDir() + "/"
	script := filepath.Join(t.TempDir(), "again")
	golden.Write(t, script, `exec /bin/sh "$0"`)
	p := start(t, NewSpawner(), Spec{Name: "again", Program: "/bin/sh", Args: []string{script}, Owner: dir})
	for look := range 2000 {
		if !startedFor(p.PID, dir) || !runs(p.PID, dir) {
			t.Fatalf("it was not found at look %d", look)
		}
	}
	if n, err := killOwned(dir); n != 1 || err != nil {
		t.Fatalf("killed %d, %v; want one", n, err)
	}
	<-p.Done()
	if runs(p.PID, dir) {
		t.Error("it has ended")
	}
}

// A process that has ended and is not reaped yet does not run. It has no program that it could become.
func TestUnreapedDoesNotRun(t *testing.T) {
	command := exec.Command("/bin/true")
	golden.Must(t, command.Start())
	golden.Must(t, awaitExit(command.Process.Pid))
	if content, err := shown(command.Process.Pid, "cmdline"); len(content) != 0 || err != nil {
		t.Errorf("command line %q, %v", content, err)
	}
	golden.Must(t, command.Wait())
}

// Nothing is sent to the pid of a process that has ended: it may belong to somebody else.
func TestNoSignalAfterTheEnd(t *testing.T) {
	somebody := start(t, NewSpawner(), Spec{Name: "somebody", Program: "/bin/sleep", Args: []string{"1000"}})
	done := make(chan struct{})
	close(done)
	// Its pid is used again.
	p := &Process{Name: "ended", PID: somebody.PID, done: done}
	if err := p.Stop(t.Context(), time.Minute); err != nil {
		t.Errorf("Stop: %v", err)
	}
	if err := p.Kill(t.Context()); err != nil {
		t.Errorf("Kill: %v", err)
	}
	err := p.Frozen(func() error {
		t.Error("a process that has ended was frozen")
		return nil
	})
	if !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("Frozen: %v", err)
	}
	// The first deadly signal is what a process ends with.
	golden.Must(t, syscall.Kill(somebody.PID, syscall.SIGPROF))
	<-somebody.Done()
	if got := somebody.err.Error(); got != "signal: profiling timer expired" {
		t.Errorf("somebody else's process got another signal: %s", got)
	}
}

// What a process has started ends with it, even if nobody ended the process.
func TestGroupEndsWithItsProcess(t *testing.T) {
	p := start(t, NewSpawner(), Spec{Name: "parent", Program: "/bin/sh", Args: []string{"-c", "sleep 1000 & echo $!"}})
	<-p.Done()
	child, err := strconv.Atoi(strings.TrimSpace(golden.Read(t, p.LogFile)))
	golden.Must(t, err)
	awaitGone(t, child)
	if p.Expected() || p.err != nil {
		t.Errorf("expected: %t, error: %v; want an exit by itself, with status 0", p.Expected(), p.err)
	}
}

func TestStop(t *testing.T) {
	for name, script := range map[string]string{
		"asked":    "trap 'echo goodbye; exit 0' TERM; echo started; while :; do read x < /dev/null; done",
		"stubborn": "trap '' TERM; echo started; while :; do read x < /dev/null; done",
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, NewSpawner(), Spec{Name: "p", Program: "/bin/sh", Args: []string{"-c", script}})
			awaitLine(t, p.LogFile, "started")
			grace := time.Minute
			if name == "stubborn" {
				grace = time.Millisecond
			}
			golden.Must(t, p.Stop(t.Context(), grace))
			log := golden.Read(t, p.LogFile)
			if got := strings.Contains(log, "goodbye"); got != (name == "asked") || !p.Expected() {
				t.Errorf("said goodbye: %t; expected: %t", got, p.Expected())
			}
		})
	}
}

// awaitLine waits until a log has content.
func awaitLine(t *testing.T, path, line string) {
	t.Helper()
	for t.Context().Err() == nil {
		if strings.Contains(golden.Read(t, path), line) {
			return
		}
	}
}

// A process gets its own hostname if the machine allows that, and otherwise the machine's. It can be killed like every
// other process.
func TestHostname(t *testing.T) {
	own, err := os.Hostname()
	golden.Must(t, err)
	spawner := NewSpawner()
	p := start(t, spawner, Spec{
		Name: "named", Program: "/bin/sh", Args: []string{"-c", "hostname; echo started; exec sleep 1000"},
		Hostname: "elsewhere", SetHostname: []string{"/bin/sh", "-c", `hostname "$0" && exec "$@"`},
	})
	awaitLine(t, p.LogFile, "started")
	want := own
	if spawner.NamesHosts(nil) { // Start has already tested it
		want = "elsewhere"
	}
	if got := LastLines(p.LogFile, 5); !strings.Contains(got, want) {
		t.Errorf("the process sees the hostname %q, want %q", got, want)
	}
	golden.Must(t, p.Kill(t.Context()))
	if after, err := os.Hostname(); err != nil || after != own {
		t.Errorf("the machine is called %q now, %v", after, err)
	}
}

// If a machine allows the namespace but not the name, a process still starts, with the machine's hostname.
func TestNoHostname(t *testing.T) {
	own, err := os.Hostname()
	golden.Must(t, err)
	spawner := NewSpawner()
	rejected := []string{"/bin/sh", "-c", "exit 1"}
	p := start(t, spawner, Spec{
		Name: "unnamed", Program: "/bin/sh", Args: []string{"-c", "hostname; echo started; exec sleep 1000"},
		Hostname: "elsewhere", SetHostname: rejected,
	})
	awaitLine(t, p.LogFile, "started")
	if got := LastLines(p.LogFile, 5); !strings.Contains(got, own) || spawner.NamesHosts(rejected) {
		t.Errorf("the process sees the hostname %q, want %q", got, own)
	}
	golden.Must(t, p.Kill(t.Context()))
}
