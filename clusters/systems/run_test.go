package systems

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// sleeper returns a system whose process prints its version and address, writes the file "up", and sleeps.
func sleeper(name string) clusters.System {
	return clusters.System{Name: name, Version: "7", Process: &clusters.SystemProcess{
		Command: []string{
			"sh", "-c",
			"cat $(DIR)/config; echo $$(id) > $(DIR)/up; test -n \"$KUBECONFIG\" && exec sleep 1000",
		},
		Files: map[string]string{"config": "version $(VERSION) at $(WEBHOOK_HOST):$(WEBHOOK_PORT)\n"},
	}}
}

func converge(t *testing.T, s *Set, wanted ...clusters.System) {
	t.Helper()
	golden.Must(t, s.Converge(t.Context(), wanted))
}

func pid(s *Set, name string) int { return s.system(name).process.PID }

// die kills a system's process from outside.
func die(t *testing.T, s *Set, name string) {
	t.Helper()
	process := s.system(name).process
	golden.Must(t, syscall.Kill(-process.PID, syscall.SIGKILL))
	<-process.Done()
}

func TestLifeOfAProcess(t *testing.T) {
	c := newFakeCluster(t)
	s := newSet(t, c, Options{})
	converge(t, s, sleeper("a"), sleeper("b"))
	a, b := pid(s, "a"), pid(s, "b")
	converge(t, s, sleeper("a"), sleeper("b"))
	if pid(s, "a") != a || pid(s, "b") != b {
		t.Error("an unchanged system was restarted")
	}
	changed := sleeper("b")
	changed.Version = "8"
	converge(t, s, sleeper("a"), changed)
	if pid(s, "a") != a || pid(s, "b") == b {
		t.Error("want b restarted, and a not")
	}
	config, err := os.ReadFile(s.system("b").place.File("config"))
	if err != nil || !strings.HasPrefix(string(config), "version 8 at 127.0.0.1:") {
		t.Errorf("its file holds %q, %v", config, err)
	}
	for _, file := range []string{"config", "kubeconfig", "certs/tls.key", "certs/ca.crt"} {
		if info, err := os.Stat(s.system("b").place.File(file)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v; want mode 0600", file, info, err)
		}
	}
	golden.Must(t, s.Kill(t.Context(), "b"))
	if err := s.Kill(t.Context(), "b"); err == nil || !strings.Contains(err.Error(), "not running") {
		t.Errorf("killed twice: %v", err)
	}
	if err := s.Restart(t.Context(), "b"); err != nil || !alive(s.system("b").process) {
		t.Errorf("restart: %v", err)
	}
	golden.Must(t, s.Kill(t.Context(), "b"))
	converge(t, s, sleeper("a"), changed)
	if !alive(s.system("b").process) {
		t.Error("a killed system is still down after a transition")
	}
	if got := len(s.LogFiles()["b"]); got != 4 {
		t.Errorf("%d logs of b, want one for each start", got)
	}
	converge(t, s, changed)
	if s.system("a") != nil || s.Kill(t.Context(), "a") == nil {
		t.Error("a removed system is still there")
	}
	select {
	case err := <-s.Died():
		t.Errorf("nothing died of itself: %v", err)
	default:
	}
	dir := t.TempDir()
	if err := s.Collect(t.Context(), dir); err != nil {
		t.Error(err)
	}
	if logs, _ := filepath.Glob(filepath.Join(dir, "system-*.log")); len(logs) != 5 {
		t.Errorf("collected %v", logs)
	}
}

func TestDeathIsReported(t *testing.T) {
	s := newSet(t, newFakeCluster(t), Options{})
	converge(t, s, sleeper("lws"))
	die(t, s, "lws")
	if err := <-s.Died(); err == nil || !strings.Contains(err.Error(), "system lws: ") {
		t.Errorf("got %v", err)
	}
}

// TestDeathWhileTheClusterChanges: like a pod, the process is restarted.
func TestDeathWhileTheClusterChanges(t *testing.T) {
	s := newSet(t, newFakeCluster(t), Options{})
	converge(t, s, sleeper("lws"))
	s.Hold(t.Context())
	die(t, s, "lws")
	converge(t, s, sleeper("lws"))
	if !alive(s.system("lws").process) {
		t.Error("it was not started again")
	}
	select {
	case err := <-s.Died():
		t.Errorf("reported: %v", err)
	default:
	}
}

func TestProcessThatDoesNotStart(t *testing.T) {
	s := newSet(t, newFakeCluster(t), Options{})
	system := clusters.System{Name: "broken", Process: &clusters.SystemProcess{
		Command: []string{
			"sh", "-c",
			"echo unknown flag >&2; exit 2",
		}, Ready: &clusters.SystemReadiness{TCP: "$(HEALTH_ADDRESS)"},
	}}
	err := s.Converge(t.Context(), []clusters.System{system})
	if err == nil || !strings.Contains(err.Error(), "unknown flag") ||
		!strings.Contains(err.Error(), "system broken(process)") {
		t.Errorf("got %v, want the process's own words", err)
	}
	system.Process.Command = []string{"sleep", "1000"}
	system.Process.Ready = nil
	if err := s.Converge(t.Context(), []clusters.System{system}); err != nil {
		t.Errorf("a second try, which is right: %v", err)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	c := newFakeCluster(t)
	s, err := New(c, Options{})
	golden.Must(t, err)
	converge(t, s, sleeper("lws"))
	process := s.system("lws").process
	golden.Must(t, s.Close(t.Context(), false))
	if alive(process) {
		t.Error("its process lives")
	}
	if left, _ := filepath.Glob(filepath.Join(c.folder, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// here is a location.
type here struct{}

func (here) URL() string             { return "https://127.0.0.1:1" }
func (here) File(name string) string { return filepath.Join("/dir", name) }

func (here) Values() map[string]string {
	return map[string]string{
		"KUBECONFIG": "/dir/kubeconfig", "WEBHOOK_HOST": "127.0.0.1", "WEBHOOK_PORT": "1", "CERT_DIR": "/dir/certs",
	}
}

func TestSimulatorIsStartedWithItsFaults(t *testing.T) {
	p, err := concrete(clusters.System{
		Name:      "lws",
		Simulated: &clusters.Simulated{Simulator: "x", Faults: []string{"a", "b"}, Variant: "v"},
	},
		Simulators{"x": {Command: []string{"rehearse", "simulator", "x"}}}, clusters.BuiltModule{}, here{})
	want := []string{
		"rehearse", "simulator", "x", "--kubeconfig=/dir/kubeconfig", "--host=127.0.0.1", "--port=1", "--cert-dir=/dir/certs",
		"--faults=a,b", "--variant=v",
	}
	if err != nil || !reflect.DeepEqual(p.command, want) || p.ready.HTTPGet != "https://127.0.0.1:1/readyz" {
		t.Errorf("got %+v, %v", p, err)
	}
	if _, err := concrete(clusters.System{Name: "y", Simulated: &clusters.Simulated{}}, Simulators{"x": {}},
		clusters.BuiltModule{}, here{}); err == nil || !strings.Contains(err.Error(), `unknown simulator "y"; known: x`) {
		t.Errorf("got %v", err)
	}
}

// A program with a fixed port and certificate folder gets a suitable place, and is not started if the port is in use.
func TestProgramWithFixedPlaces(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	golden.Must(t, err)
	defer taken.Close()
	s := newSet(t, newFakeCluster(t), Options{})
	fixed := sleeper("fixed")
	fixed.Process.CertDir, fixed.Process.WebhookPort = "k8s-webhook-server/serving-certs", taken.Addr().(*net.TCPAddr).Port
	if err := s.Converge(t.Context(), []clusters.System{fixed}); err == nil || !strings.Contains(err.Error(),
		"add --clusters 1") {
		t.Errorf("a port that is taken: %v", err)
	}
	golden.Must(t, taken.Close())
	converge(t, s, fixed)
	at := s.system("fixed").place
	if _, err := os.Stat(at.File("k8s-webhook-server/serving-certs/tls.key")); err != nil || at.URL() != "https://"+
		taken.Addr().String() {
		t.Errorf("it is at %s, %v", at.URL(), err)
	}
	converge(t, s, sleeper("fixed"))
	if at.URL() == "https://"+taken.Addr().String() || at.Values()["CERT_DIR"] != at.File("certs") {
		t.Errorf("another command is still at %s, with %s", at.URL(), at.Values()["CERT_DIR"])
	}
}

// A process that exits before it serves is reported once, with its own log, and not as dead as well; the next change
// may start it.
func TestRejectionToStart(t *testing.T) {
	s := newSet(t, newFakeCluster(t), Options{})
	rejecting := clusters.System{Name: "a", Process: &clusters.SystemProcess{
		Command: []string{
			"sh", "-c",
			"echo the configuration is wrong; exit 2",
		}, Ready: &clusters.SystemReadiness{TCP: "127.0.0.1:1"},
	}}
	broken, other := clusters.Breakage(s.Converge(t.Context(), []clusters.System{rejecting}))
	if len(broken) != 1 || len(other) > 0 || broken[0].Component != clusters.SystemComponent("a") ||
		!strings.Contains(broken[0].Words, "configuration is wrong") {
		t.Errorf("broken %+v, besides %v", broken, other)
	}
	converge(t, s, sleeper("a"))
	if !alive(s.system("a").process) {
		t.Error("it does not serve")
	}
	unproven := errors.New("no webhook answers")
	if err := exited(s.system("a"), unproven); err != unproven { //nolint:errorlint // it must be unchanged
		t.Errorf("while it runs: %v", err)
	}
	golden.Must(t, s.system("a").process.Kill(t.Context()))
	if broken, _ := clusters.Breakage(exited(s.system("a"), unproven)); len(broken) != 1 {
		t.Errorf("after it has exited, broken are %+v", broken)
	}
	select {
	case err := <-s.Died():
		t.Errorf("what did not start is reported as dead: %v", err)
	default:
	}
}

// A process is not checked before its initial delay is over, as a kubelet does it. One that ends before is reported.
func TestInitialDelay(t *testing.T) {
	s := newSet(t, newFakeCluster(t), Options{})
	system := sleeper("a")
	system.Process.Ready = &clusters.SystemReadiness{TCP: listening(t), InitialDelay: "200ms"}
	began := time.Now()
	converge(t, s, system)
	if took := time.Since(began); took < 200*time.Millisecond {
		t.Errorf("it was ready after %s, before its first check", took)
	}
	system.Process = &clusters.SystemProcess{
		Command: []string{"sh", "-c", "echo the configuration is wrong; exit 2"},
		Ready:   &clusters.SystemReadiness{TCP: listening(t), InitialDelay: "2m"},
	}
	err := s.Converge(t.Context(), []clusters.System{system})
	if err == nil || !strings.Contains(err.Error(), "configuration is wrong") {
		t.Errorf("got %v, want the words of the process that ended before its first check", err)
	}
}

// listening returns an address that accepts connections.
func listening(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	golden.Must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}

// A changed definition, or a system that is installed again, does not find the files of the system before it.
func TestFilesOfEarlierDefinitions(t *testing.T) {
	s := newSet(t, newFakeCluster(t), Options{})
	system := sleeper("a")
	system.Process.Files["more"] = "x"
	converge(t, s, system)
	more, up, logs := s.system("a").place.File("more"), s.system("a").place.File("up"), s.system("a").place.Logs()
	there := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	if !there(more) {
		t.Fatal("no file more")
	}
	converge(t, s, sleeper("a"))
	if there(more) {
		t.Error("the file more is still there, and the definition does not have it")
	}
	golden.Write(t, up, "left by the program")
	converge(t, s)
	again := sleeper("a")
	again.Process.Command = []string{"sleep", "1000"}
	converge(t, s, again)
	if there(up) || !there(logs) {
		t.Errorf("a file that the program left: %t, the logs: %t", there(up), there(logs))
	}
}
