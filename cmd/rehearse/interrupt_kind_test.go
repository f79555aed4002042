package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/kind"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// ends is a scenario after which its cluster is deleted; goesOn has a transition before that.
const (
	ends = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: interrupted}
spec:
  cluster: {version: "1.34"}
  steps:
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
`
	goesOn = ends + "  - transition: {version: \"1.35\"}\n"
)

func needsKind(t testing.TB) {
	t.Helper()
	if os.Getenv("REHEARSE_TEST_KIND") == "" {
		t.Skip("needs a container engine and node images: make test-kind")
	}
}

// Nothing stays of a run on kind that is interrupted, or killed and then swept: no container, volume, attachment to
// the network, mount or kubeconfig entry.
func TestLiveNothingIsLeftOnKind(t *testing.T) {
	needsKind(t)
	e, err := engine.Detect(t.Context())
	golden.Must(t, err)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	t.Setenv("KUBECONFIG", kubeconfig)
	t.Run("interrupted", func(t *testing.T) {
		for _, test := range []interruption{
			{"creation", syscall.SIGINT, goesOn, (*kindRun).controlPlaneStarts},
			{"creation killed", syscall.SIGKILL, goesOn, (*kindRun).controlPlaneStarts},
			{"transition", syscall.SIGINT, goesOn, (*kindRun).nextVersionStarts},
			{"deletion", syscall.SIGINT, ends, (*kindRun).deletionBegins},
		} {
			t.Run(test.name, func(t *testing.T) {
				t.Parallel()
				test.run(t, e)
			})
		}
	})
	if _, err := os.Stat(kubeconfig); err == nil {
		t.Error("the user's kubeconfig was written")
	}
}

// interruption is a run that gets a signal at a moment.
type interruption struct {
	name     string
	signal   syscall.Signal
	scenario string
	moment   func(*kindRun) bool
}

func (i interruption) run(t *testing.T, e *engine.Engine) {
	file := filepath.Join(t.TempDir(), "scenario.yaml")
	golden.Write(t, file, i.scenario)
	k := &kindRun{t: t, engine: e, running: startRun(t, "--provider", "kind", file)}
	k.await(t, i.name, func() bool {
		k.noteVolumes()
		return i.moment(k)
	})
	golden.Must(t, k.command.Process.Signal(i.signal))
	code := k.wait(t)
	switch {
	case i.signal == syscall.SIGKILL:
		k.sweepKind()
	case i.scenario == ends && code == cli.ExitOK: // the run ended before the signal
	case code != cli.ExitInterrupted:
		t.Errorf("exit code %d, want %d; it said:\n%s", code, cli.ExitInterrupted, k.output.String())
	}
	if left, _ := filepath.Glob(filepath.Join(k.cache, "kind", "clusters", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if mounts, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(mounts), k.cache) {
		t.Errorf("a mount is left (%v)", err)
	}
	k.nothingInTheEngine()
	if i.scenario == goesOn {
		k.junit(t, "interrupted")
	}
}

// kindRun is a run on kind, seen from the container engine.
type kindRun struct {
	*running
	t      *testing.T
	engine *engine.Engine
	// cluster is the only one that the run creates; "" until it exists. volumes are those of its node; their names do
	// not show which run they belong to.
	cluster string
	volumes []string
}

// noteVolumes notes the run's cluster and the volumes of its node, if they exist.
func (k *kindRun) noteVolumes() {
	if folders, _ := filepath.Glob(filepath.Join(k.cache, "kind", "clusters", "*", "node")); len(folders) > 0 {
		k.cluster = filepath.Base(filepath.Dir(folders[0]))
	}
	if k.cluster == "" || len(k.volumes) > 0 {
		return
	}
	out, err := k.engine.Output(k.t.Context(), "inspect", "--format",
		`{{range .Mounts}}{{if eq .Type "volume"}}{{.Name}} {{end}}{{end}}`, k.node())
	if err == nil { // otherwise, there is no node yet
		k.volumes = strings.Fields(out)
	}
}

// nothingInTheEngine checks that the engine has no container and no volume of the run. Without a container, there is
// no attachment to the network.
func (k *kindRun) nothingInTheEngine() {
	k.t.Helper()
	if k.cluster == "" || len(k.volumes) == 0 {
		k.t.Fatalf("cluster %q and volumes %q were seen, so that it is not known whether anything is left", k.cluster,
			k.volumes)
	}
	containers, err := k.engine.Output(k.t.Context(), "ps", "--all", "--quiet", "--filter", "label=io.x-k8s.kind.cluster="+
		k.cluster)
	if err != nil || containers != "" {
		k.t.Errorf("containers left behind: %q (%v)", containers, err)
	}
	volumes, err := k.engine.Output(k.t.Context(), "volume", "ls", "--quiet")
	left := slices.DeleteFunc(strings.Fields(volumes), func(v string) bool { return !slices.Contains(k.volumes, v) })
	if err != nil || len(left) > 0 {
		k.t.Errorf("volumes left behind: %v (%v)", left, err)
	}
}

func (k *kindRun) node() string { return k.cluster + "-control-plane" }

// manifest returns the manifest of kube-apiserver in the run's node; "" if there is none yet.
func (k *kindRun) manifest() string {
	if k.cluster == "" {
		return ""
	}
	text, _ := k.engine.Exec(k.t.Context(), k.node(), "cat", "/etc/kubernetes/manifests/kube-apiserver.yaml")
	return text
}

func (k *kindRun) controlPlaneStarts() bool { return k.manifest() != "" }

func (k *kindRun) nextVersionStarts() bool { return strings.Contains(k.manifest(), ":v1.35") }

func (k *kindRun) deletionBegins() bool {
	data, err := os.ReadFile(filepath.Join(k.report, "run.json"))
	var run reports.Run
	if err != nil || json.Unmarshal(data, &run) != nil {
		return false
	}
	setup := run.Tracks[0].Setup
	return !setup[len(setup)-1].Started.IsZero()
}

// sweepKind removes what is left of the run, as the next run does first.
func (k *kindRun) sweepKind() {
	k.t.Helper()
	provider, err := kind.Default(releases.Options{CacheDir: k.cache}, kind.NodeImages{}, k.t.Logf)
	if err != nil {
		k.t.Fatal(err)
	}
	// A child that was being forked when the run was killed may hold the folder's lock for a moment longer.
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if err := provider.Sweep(k.t.Context()); err != nil {
			k.t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(provider.Root, "*")); len(left) == 0 {
			return
		}
	}
}
