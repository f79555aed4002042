//go:build linux

package processes

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func start(t *testing.T, s *Spawner, spec Spec) *Process {
	t.Helper()
	if spec.LogDir == "" {
		spec.LogDir = t.TempDir()
	}
	p, err := s.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
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
	pid, err := os.ReadFile(child)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !p.Expected() {
		t.Error("its end was expected")
	}
	number, _ := strconv.Atoi(strings.TrimSpace(string(pid)))
	for range 1000 { // its new parent reaps the child
		if !runs(number, "sleep") {
			return
		}
		_ = exec.CommandContext(t.Context(), "/bin/true").Run()
	}
	t.Errorf("the child %d of a killed process lives on", number)
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
	if n, err := KillOwned("another folder that nobody uses"); n != 0 || err != nil {
		t.Errorf("killed %d processes of nobody's, %v", n, err)
	}
}

func TestKillOwned(t *testing.T) {
	dir := t.TempDir() + "/"
	p := start(t, NewSpawner(), Spec{Name: "z", Program: "/bin/sleep", Args: []string{"1000"}, Env: []string{"X=1"}})
	q := start(t, NewSpawner(), Spec{Name: "q", Program: "/bin/sh", Args: []string{"-c", "sleep 1000", dir}})
	if n, err := KillOwned(dir); n < 1 || err != nil {
		t.Errorf("killed %d, %v; want at least one", n, err)
	}
	<-q.Done()
	select {
	case <-p.Done():
		t.Error("killed a process that is not of the folder")
	default:
	}
}

// TestKillOwnedByEnvironment: a program whose command line does not name the folder is found, too.
func TestKillOwnedByEnvironment(t *testing.T) {
	dir := t.TempDir() + "/"
	p := start(t, NewSpawner(), Spec{Name: "mine", Program: "/bin/sleep", Args: []string{"1000"}, Owner: dir})
	q := start(t, NewSpawner(),
		Spec{Name: "theirs", Program: "/bin/sleep", Args: []string{"1000"}, Env: []string{"KUBECONFIG=" + dir}})
	if n, err := KillOwned(dir); n != 1 || err != nil {
		t.Errorf("killed %d, %v; want one", n, err)
	}
	<-p.Done()
	select {
	case <-q.Done():
		t.Error("killed a process that only uses the folder")
	default:
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
			if err := p.Stop(t.Context(), grace); err != nil {
				t.Fatal(err)
			}
			log, err := os.ReadFile(p.LogFile)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(log), "goodbye"); got != (name == "asked") || !p.Expected() {
				t.Errorf("said goodbye: %t; expected: %t", got, p.Expected())
			}
		})
	}
}

// awaitLine waits until a log has content.
func awaitLine(t *testing.T, path, line string) {
	t.Helper()
	for t.Context().Err() == nil {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), line) {
			return
		}
	}
}

// A process gets its own hostname if the machine allows that, and otherwise the machine's. It can be killed like every
// other process.
func TestHostname(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
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
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Hostname(); err != nil || after != own {
		t.Errorf("the machine is called %q now, %v", after, err)
	}
}

// If a machine allows the namespace but not the name, a process still starts, with the machine's hostname.
func TestNoHostname(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
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
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
}
