package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"

	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// rehearseItself is the environment variable that makes the test's own program behave as rehearse.
const rehearseItself = "REHEARSE_TEST_AS_REHEARSE"

func TestMain(m *testing.M) {
	if os.Getenv(rehearseItself) != "" {
		main()
	}
	component.Main()
	builtin.All().Simulators().Main()
	os.Exit(m.Run())
}

const rehearsal = "../../scenarios/kubernetes/service-name-rollback.yaml"

// moments are files in the cluster's folder. Each of them appears at a certain point of a run.
var moments = []string{
	"lock", "logs/etcd-1.log", "logs/kube-apiserver-1.log", "logs/kube-controller-manager-1.log",
	"logs/kube-scheduler-1.log",
	"logs/kube-apiserver-2.log", "logs/dns-1.log", "logs/kube-controller-manager-2.log", "logs/kube-apiserver-3.log",
	"logs/kube-apiserver-4.log",
}

// Nothing stays of a run that is interrupted, or killed and then swept, and its report can be read.
func TestNothingIsLeftBehind(t *testing.T) {
	needsClusters(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		for _, moment := range moments {
			t.Run(signal.String()+" at "+filepath.Base(moment), func(t *testing.T) {
				t.Parallel()
				endedAt(t, signal, moment, rehearsal, "service-name-rollback")
			})
		}
	}
}

// Nothing stays of a run with three control planes either, one of them upgraded. Its processes include a load
// balancer and programs with their own hostnames.
func TestNothingIsLeftOfAWindow(t *testing.T) {
	needsClusters(t)
	const window = "../../scenarios/windows/service-name.yaml"
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		for _, moment := range []string{"logs/kube-apiserver@2-1.log", "logs/kube-controller-manager@0-2.log"} {
			t.Run(signal.String()+" at "+filepath.Base(moment), func(t *testing.T) {
				endedAt(t, signal, moment, window, "window-service-name")
			})
		}
	}
}

// endedAt sends a signal to a run at a moment, and checks that nothing is left of it.
func endedAt(t *testing.T, signal syscall.Signal, moment, file, scenario string) {
	t.Helper()
	r := startRun(t, file)
	r.await(t, moment, func() bool {
		found, _ := filepath.Glob(filepath.Join(r.clusters(), "*", moment))
		return len(found) > 0
	})
	golden.Must(t, r.command.Process.Signal(signal))
	code := r.wait(t)
	if signal == syscall.SIGINT && code != cli.ExitInterrupted {
		t.Errorf("exit code %d, want %d; it said:\n%s", code, cli.ExitInterrupted, r.output.String())
	}
	r.noProcessLeft(t)
	if signal == syscall.SIGKILL {
		r.sweep(t)
	}
	if left, _ := filepath.Glob(filepath.Join(r.clusters(), "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	r.junit(t, scenario)
}

type running struct {
	command *exec.Cmd
	output  *bytes.Buffer
	cache   string
	report  string
	done    chan struct{}
}

// startRun starts a run of scenarios with a cache of its own, which shares the user's Kubernetes programs.
func startRun(t *testing.T, args ...string) *running {
	t.Helper()
	shared, err := releases.UserCache()
	golden.Must(t, err)
	cache := t.TempDir()
	r := &running{
		cache: filepath.Join(cache, "rehearse"), report: t.TempDir(), output: &bytes.Buffer{},
		done: make(chan struct{}),
	}
	golden.Must(t, os.Mkdir(r.cache, 0o700))
	golden.Must(t, os.Mkdir(filepath.Join(r.cache, "kind"), 0o700))
	for _, name := range []string{"kubernetes", "kind/artifacts"} {
		golden.Must(t, os.MkdirAll(filepath.Join(shared, name), 0o755))
		golden.Must(t, os.Symlink(filepath.Join(shared, name), filepath.Join(r.cache, name)))
	}
	executable, err := os.Executable()
	golden.Must(t, err)
	r.command = exec.CommandContext(context.WithoutCancel(t.Context()), executable,
		append([]string{"run", "--report-dir", r.report}, args...)...)
	r.command.Env = append(os.Environ(), rehearseItself+"=1", "XDG_CACHE_HOME="+cache)
	r.command.Stdout, r.command.Stderr = r.output, r.output
	golden.Must(t, r.command.Start())
	go func() {
		defer close(r.done)
		_ = r.command.Wait()
	}()
	t.Cleanup(func() {
		_ = r.command.Process.Kill()
		<-r.done
	})
	return r
}

func (r *running) clusters() string { return filepath.Join(r.cache, "clusters") }

// await waits until look returns true.
func (r *running) await(t *testing.T, moment string, look func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		if look() {
			return
		}
		select {
		case <-r.done:
			t.Fatalf("the run ended before %s; it said:\n%s", moment, r.output.String())
		case <-ticker.C:
		}
	}
}

func (r *running) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-r.done:
	case <-time.After(3 * time.Minute):
		t.Fatal("the run does not end")
	}
	return r.command.ProcessState.ExitCode()
}

// noProcessLeft waits until no process has the run's cache in its command line. The kernel kills the processes with
// their parent, which may take a moment. While a process becomes another program, it has no command line.
func (r *running) noProcessLeft(t *testing.T) {
	t.Helper()
	var left []string
	none := 0
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		if left = processesOf(t, r.cache); len(left) > 0 {
			none = 0
		} else if none++; none == 10 {
			return
		}
	}
	t.Errorf("processes are left: %v", left)
}

func processesOf(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	golden.Must(t, err)
	var found []string
	for _, entry := range entries {
		if _, err := strconv.Atoi(entry.Name()); err != nil {
			continue
		}
		if line, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline")); err == nil &&
			bytes.Contains(line, []byte(folder)) {
			found = append(found, strings.ReplaceAll(string(line[:min(len(line), 80)]), "\x00", " "))
		}
	}
	return found
}

// sweep removes what is left of the run, as the next run does first.
func (r *running) sweep(t *testing.T) {
	t.Helper()
	provider, err := local.Default(releases.Options{CacheDir: r.cache}, t.Logf)
	golden.Must(t, err)
	// A child that was being forked when the run was killed may hold the folder's lock for a moment longer.
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		if err := provider.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(r.clusters(), "*")); len(left) == 0 {
			return
		}
	}
}

// junit checks that the report can be read and claims no success.
func (r *running) junit(t *testing.T, name string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.report, "junit.xml"))
	if errors.Is(err, os.ErrNotExist) {
		t.Fatal("there is no junit.xml")
	}
	var report reporters.JUnitTestSuites
	if err := xml.Unmarshal(data, &report); err != nil {
		t.Fatalf("junit.xml: %v\n%s", err, data)
	}
	found := false
	for _, suite := range report.TestSuites {
		for _, c := range suite.TestCases {
			if c.Name != name {
				continue
			}
			found = true
			if c.Skipped == nil && c.Error == nil {
				t.Errorf("the scenario did not run to its end, but junit.xml says %q", c.Status)
			}
		}
	}
	if !found {
		t.Errorf("junit.xml does not tell of the scenario:\n%s", data)
	}
}
