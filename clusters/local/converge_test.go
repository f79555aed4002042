package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A component is restarted if its program is another one: another version, or a new build at the same path.
func TestRebuiltProgram(t *testing.T) {
	state := clusters.State{Version: "1.37.0-alpha.2"}
	bin := programsOf{state.Version: releases.Binaries{Dir: t.TempDir(), Own: true}}
	for _, component := range clusters.ControlPlane() {
		golden.Write(t, bin[state.Version].Path(string(component)), "built")
	}
	c := dummies(t, 2, always)
	changed := func() string {
		t.Helper()
		var names []string
		all, err := c.changes(state, 0, bin)
		golden.Must(t, err)
		for _, w := range all {
			names = append(names, string(w.component))
			line := w.started
			line.Program, line.Args = sleeps().Program, sleeps().Args
			golden.Must(t, c.replace(t.Context(), string(w.component), line))
			c.record.Processes[string(w.component)] = w.started
		}
		return strings.Join(names, " ")
	}
	c.forget(string(clusters.APIServer.On(0)))
	if got := changed(); got != "kube-apiserver@0 kube-controller-manager@0 kube-scheduler@0" {
		t.Errorf("first started: %s", got)
	}
	if got := changed(); got != "" {
		t.Errorf("restarted without a change: %s", got)
	}
	golden.Write(t, bin[state.Version].Path("kube-scheduler"), "built again")
	if got := changed(); got != "kube-scheduler@0" {
		t.Errorf("restarted after one was built again: %s", got)
	}
	bin = programsOf{"1.37.0-alpha.3": bin[state.Version]}
	state.Version = "1.37.0-alpha.3"
	if got := changed(); got != "kube-apiserver@0 kube-controller-manager@0 kube-scheduler@0" {
		t.Errorf("restarted in another version: %s", got)
	}
}

// A component that already runs as desired may be from a transition that ended before it was proven: it is proven once.
func TestWhatRunsAsDesiredIsProven(t *testing.T) {
	state := clusters.State{Version: "1.37.0-alpha.2"}
	bin := programsOf{state.Version: releases.Binaries{Dir: t.TempDir(), Own: true}}
	c := dummies(t, 2, always)
	c.forget(string(clusters.APIServer.On(0)))
	for _, component := range clusters.ControlPlane() {
		golden.Write(t, bin[state.Version].Path(string(component)), "built")
	}
	all, err := c.changes(state, 0, bin)
	golden.Must(t, err)
	for _, w := range all {
		golden.Must(t, c.replace(t.Context(), string(w.component), sleeps()))
		c.record.Processes[string(w.component)] = w.started
	}
	// The dummies do not report their version.
	golden.Error(t, c.proveOthers(t.Context(), state, bin), "kube-apiserver@0: ", "kube-controller-manager@0: ",
		"kube-scheduler@0: ")
	for _, w := range all {
		c.proven.add(c.process(string(w.component)))
	}
	golden.Must(t, c.proveOthers(t.Context(), state, bin))
	golden.Must(t, c.replace(t.Context(), "kube-scheduler@0", sleeps()))
	c.record.Processes["kube-scheduler@0"] = all[2].started
	golden.Error(t, c.proveOthers(t.Context(), state, bin), "kube-scheduler@0: ")
}

// die kills a process from outside, and returns when it has ended.
func die(t *testing.T, c *Cluster, name string) {
	t.Helper()
	process := c.process(name)
	golden.Must(t, syscall.Kill(process.PID, syscall.SIGKILL))
	<-process.Done()
}

// withOthers is a cluster with a node simulation and a DNS server, which is ready.
func withOthers(t *testing.T) *Cluster {
	t.Helper()
	c := dummies(t, 2, always)
	ready := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(ready.Close)
	_, port, err := net.SplitHostPort(ready.Listener.Addr().String())
	golden.Must(t, err)
	if c.layout.Ports.DNSReady, err = strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{nodesProcess, dnsProcess} {
		golden.Must(t, c.start(name, sleeps()))
	}
	return c
}

// The end of the node simulation and of the DNS server is not reported while an API server is down. They are restarted
// as soon as it is back.
func TestReviveOthers(t *testing.T) {
	c := withOthers(t)
	server := string(clusters.APIServer.On(1))
	away := c.process(server)
	c.forget(server)
	for _, name := range []string{nodesProcess, dnsProcess} {
		die(t, c, name)
	}
	if err := c.revive(t.Context()); err != nil || !hasEnded(c.process(nodesProcess)) || !hasEnded(c.process(dnsProcess)) {
		t.Errorf("restarted while an API server is down, %v", err)
	}
	c.mu.Lock()
	c.running[server] = away
	c.mu.Unlock()
	golden.Must(t, c.revive(t.Context()))
	for _, name := range []string{nodesProcess, dnsProcess} {
		if hasEnded(c.process(name)) {
			t.Errorf("%s is down", name)
		}
	}
}

// A DNS server and a node simulation that have ended are restarted when they are needed.
func TestOthersThatEndedAreStarted(t *testing.T) {
	c := withOthers(t)
	c.away.Add(1) // so that their end is not reported
	node := &corev1.Node{}
	node.Name, node.Labels = "node-0", map[string]string{clusters.NodeLabel: "true"}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	keeper := &nodesKeeper{c.programs, fake.NewClientset(node)}
	names := map[string]bool{node.Name: true}
	golden.Must(t, keeper.nodesReady(t.Context(), names))
	die(t, c, dnsProcess)
	if _, err := c.DNS(t.Context()); err != nil || hasEnded(c.process(dnsProcess)) {
		t.Errorf("the DNS server is down: %t, %v", hasEnded(c.process(dnsProcess)), err)
	}
	die(t, c, nodesProcess)
	golden.Error(t, keeper.nodesReady(t.Context(), names), "nodes (pid ", "ended by itself")
	one := 1
	state := clusters.State{Version: "1.36.3", Nodes: []clusters.NodeGroup{{Count: &one}}}
	if err := keeper.convergeNodes(t.Context(), state); err != nil || hasEnded(c.process(nodesProcess)) {
		t.Errorf("the nodes are not simulated: %t, %v", hasEnded(c.process(nodesProcess)), err)
	}
}

// A component may end between the moment when it is ready and the proof of what it runs: it gave up waiting for its API
// server, which was slow. It is restarted, with one control plane, too.
func TestProofOfAComponentThatHasEnded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ended")
	c := dummies(t, 1, func(r *http.Request) bool {
		_, err := os.Stat(file + "-again")
		return err == nil || r.URL.Path == healthPath(clusters.APIServer)
	})
	name, s := clusters.ControllerManager, loses(file)
	process, err := c.provider.spawner.Start(processes.Spec{
		Name: string(name), Program: s.Program, Args: s.Args, LogDir: c.layout.logs(),
	})
	golden.Must(t, err)
	<-process.Done()
	c.running[string(name)], c.record.Processes[string(name)] = process, s
	port := c.layout.Ports.Planes[0].APIServer
	c.layout.Ports = listening{APIServer: port, ControllerManager: port} // there is one control plane
	c.record.Ports = c.layout.Ports
	c.running[string(clusters.APIServer)] = &processes.Process{}
	golden.Must(t, c.prove(t.Context(), clusters.State{}, []want{{name, s}}))
	if hasEnded(c.process(string(name))) {
		t.Error("it does not run")
	}
}

// noReleases provides nothing.
type noReleases struct{ Releases }

var errNoPrograms = errors.New("there are no programs")

func (noReleases) Ensure(context.Context, string, ...string) (releases.Binaries, error) {
	return releases.Binaries{}, errNoPrograms
}

// Left-overs that cannot be removed are reported, and do not hinder another cluster.
func TestCreateDespiteLeftOvers(t *testing.T) {
	root := filepath.Join(t.TempDir(), "clusters")
	if err := os.Mkdir(root+".lock", 0o700); err != nil { // it cannot be locked
		t.Fatal(err)
	}
	var said []string
	p := New(Options{Root: root, Releases: noReleases{}, Progress: func(format string, args ...any) {
		said = append(said, fmt.Sprintf(format, args...))
	}})
	t.Cleanup(p.spawner.Close)
	if _, err := p.Create(t.Context(), "c", clusters.State{Version: "1.36.3"}); !errors.Is(err, errNoPrograms) {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(strings.Join(said, " "), "lock the folder for clusters") {
		t.Errorf("said %q", said)
	}
}
