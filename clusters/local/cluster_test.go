package local_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestMain(m *testing.M) {
	component.Main()
	os.Exit(m.Run())
}

const gate = "RelaxedServiceNameValidation"

func namespaces(t *testing.T, c clusters.Cluster) error {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	golden.Must(t, err)
	_, err = client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	return err
}

func TestComponentThatRejectsToStart(t *testing.T) {
	c := clustertest.Create(t, clustertest.Local(t), "rejects", clusters.State{Version: "1.34"})
	before := c.State()
	err := c.Converge(t.Context(), before.With(clusters.Change{FeatureGates: map[string]*bool{"NoSuchGate": new(bool)}}))
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver") ||
		!strings.Contains(err.Error(), "unrecognized feature gate: NoSuchGate") {
		t.Fatalf("got %v, want kube-apiserver's own words", err)
	}
	if got := c.State().String(); got != before.String() {
		t.Errorf("state is %s after a transition that failed, want %s", got, before)
	}
	if err := c.Converge(t.Context(), before); err != nil {
		t.Fatalf("back to the state before: %v", err)
	}
	if err := namespaces(t, c); err != nil {
		t.Error(err)
	}
}

func TestDeathOfAComponent(t *testing.T) {
	c := clustertest.Create(t, clustertest.Local(t), "dies", clusters.State{Version: "1.34"})
	golden.Must(t, c.Kill(t.Context(), clusters.Scheduler))
	golden.Must(t, c.Kill(t.Context(), clusters.APIServer))
	if err := namespaces(t, c); err == nil {
		t.Error("the API server answers after it was killed")
	}
	golden.Must(t, c.Restart(t.Context(), clusters.APIServer))
	if err := namespaces(t, c); err != nil {
		t.Errorf("after the restart: %v", err)
	}
	select {
	case err := <-c.Died():
		t.Errorf("a death that was asked for was reported: %v", err)
	default:
	}
	// An unexpected exit is reported.
	pid := c.PIDs()[string(clusters.ControllerManager)]
	golden.Must(t, syscall.Kill(pid, syscall.SIGKILL))
	err := <-c.Died()
	if !strings.Contains(err.Error(), "kube-controller-manager") || !strings.Contains(err.Error(), "killed") {
		t.Errorf("got %v, want to hear of kube-controller-manager's death", err)
	}
	// A death is reported after it was recorded.
	lives := map[clusters.Component][]clusters.ProcessLife{}
	for _, life := range c.ProcessLives() {
		lives[life.Component] = append(lives[life.Component], life)
	}
	servers, managers := lives[clusters.APIServer], lives[clusters.ControllerManager]
	if len(servers) != 2 || servers[0].Unasked || servers[0].Ended.IsZero() ||
		servers[1].Ready.Before(servers[1].Started) || !servers[1].Ended.IsZero() {
		t.Errorf("the lives of kube-apiserver: %+v", servers)
	}
	if last := managers[len(managers)-1]; !last.Unasked || last.Ended.IsZero() || last.Version == "" {
		t.Errorf("the last life of kube-controller-manager: %+v", last)
	}
}

// withAFlag returns a state in which kube-apiserver has another flag, so that it is restarted.
func withAFlag(state clusters.State) clusters.State {
	state.Components = map[clusters.Component]clusters.ComponentState{
		clusters.APIServer: {Flags: map[string]string{"max-requests-inflight": "100"}},
	}
	return state
}

// A transition starts an etcd that was killed.
func TestTransitionWithoutEtcd(t *testing.T) {
	c := clustertest.Create(t, clustertest.Local(t), "empty", clusters.State{Version: "1.34"})
	golden.Must(t, c.Kill(t.Context(), clusters.Etcd))
	golden.Must(t, c.Converge(t.Context(), withAFlag(c.State())))
	if err := namespaces(t, c); err != nil {
		t.Error(err)
	}
}

// A component that exits while the API server is being replaced is restarted, and the transition continues.
func TestComponentThatEndsInATransition(t *testing.T) {
	c := clustertest.Create(t, clustertest.Local(t), "revives", clusters.State{Version: "1.34"})
	before := c.PIDs()
	state := withAFlag(c.State())
	done := make(chan error, 1)
	go func() { done <- c.Converge(t.Context(), state) }()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for pid := 0; pid == 0 || pid == before[string(clusters.APIServer)]; pid = c.PIDs()[string(clusters.APIServer)] {
		select {
		case err := <-done:
			t.Fatalf("the transition ended before a component could: %v", err)
		case <-again.C:
		}
	}
	golden.Must(t, syscall.Kill(before[string(clusters.ControllerManager)], syscall.SIGKILL))
	golden.Must(t, <-done)
	if pid := c.PIDs()[string(clusters.ControllerManager)]; pid == 0 || pid == before[string(clusters.ControllerManager)] {
		t.Errorf("kube-controller-manager is process %d", pid)
	}
	if err := namespaces(t, c); err != nil {
		t.Error(err)
	}
}

func TestLastingCluster(t *testing.T) {
	first := clustertest.Local(t)
	first.Lasting = true
	c := clustertest.Create(t, first, "lasts", clusters.State{Version: "1.34", FeatureGates: map[string]bool{gate: true}})
	c.Release()

	second := clustertest.Local(t)
	second.Root, second.Lasting = first.Root, true
	if names, err := second.Names(); err != nil || len(names) != 1 || names[0] != "lasts" {
		t.Fatalf("names %v, %v; want lasts", names, err)
	}
	again, err := second.Open(t.Context(), "lasts")
	golden.Must(t, err)
	if got, want := again.State().FeatureGates[gate], true; got != want {
		t.Errorf("state %s was not found again", again.State())
	}
	off := false
	if err := again.Converge(t.Context(),
		again.State().With(clusters.Change{FeatureGates: map[string]*bool{gate: &off}})); err != nil {
		t.Fatal(err)
	}
	golden.Must(t, second.Sweep(t.Context()))
	if err := namespaces(t, again); err != nil {
		t.Errorf("after a transition by another process, and a sweep: %v", err)
	}
	golden.Must(t, again.Delete(t.Context()))
}

func TestNodesFollowTheState(t *testing.T) {
	two, one := 2, 1
	state := clusters.State{Version: "1.35", Nodes: []clusters.NodeGroup{
		{Count: &two, Labels: map[string]string{"zone": "a"}, Capacity: map[string]string{"cpu": "3"}},
		{Name: "tainted", Taints: []clusters.Taint{{Key: "k", Effect: "NoSchedule"}}},
	}}
	c := clustertest.Create(t, clustertest.Local(t), "nodes", state)
	if got, want := nodes(t,
		c), "node-0 zone=a cpu=3 taints=0, node-1 zone=a cpu=3 taints=0, tainted-0 zone= cpu=32 taints=1"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	golden.Must(t, err)
	others := `{"metadata": {"labels": {"example.com/found": "gpu"}}, "spec": {"taints": [{"key": "drained", "effect": "NoSchedule"}]}}`
	if _, err := client.CoreV1().Nodes().Patch(t.Context(), "node-0", types.MergePatchType, []byte(others),
		metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	change := func(group clusters.NodeGroup, want string) {
		t.Helper()
		next := c.State().With(clusters.Change{Nodes: []clusters.NodeGroup{group}})
		golden.Must(t, c.Converge(t.Context(), next))
		if got := nodes(t, c); got != want {
			t.Errorf("after the change: got  %s\nwant %s", got, want)
		}
	}
	change(clusters.NodeGroup{
		Count: &one, Labels: map[string]string{"zone": "b"}, Taints: []clusters.Taint{{Key: "k", Effect: "NoSchedule"}},
	}, "node-0 zone=b cpu=32 taints=2")
	change(clusters.NodeGroup{Count: &one}, "node-0 zone= cpu=32 taints=1")
	node, err := client.CoreV1().Nodes().Get(t.Context(), "node-0", metav1.GetOptions{})
	if err != nil || node.Labels["example.com/found"] != "gpu" || node.Spec.Taints[0].Key != "drained" {
		t.Errorf("what others gave the node: labels %v, taints %v, error %v", node.Labels, node.Spec.Taints, err)
	}
}

func nodes(t *testing.T, c clusters.Cluster) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	golden.Must(t, err)
	list, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	golden.Must(t, err)
	var all []string
	for _, node := range list.Items {
		cpu := node.Status.Allocatable.Cpu().String()
		all = append(all,
			node.Name+" zone="+node.Labels["zone"]+" cpu="+cpu+" taints="+string(rune('0'+len(node.Spec.Taints))))
	}
	return strings.Join(all, ", ")
}

func TestCheckBeforeAnythingStarts(t *testing.T) {
	p := clustertest.Local(t)
	tests := map[string]struct {
		state clusters.State
		want  string
	}{
		"unknown gate": {clusters.State{
			Version:      "1.34",
			FeatureGates: map[string]bool{"RelaxedServiceNameValidatio": true},
		}, gate},
		"too new": {clusters.State{Version: "1.33", FeatureGates: map[string]bool{gate: true}}, "1.34"},
		"locked": {
			clusters.State{Version: "1.35", FeatureGates: map[string]bool{"JobManagedBy": false}},
			"JobManagedBy",
		},
		"dependency": {
			clusters.State{Version: "1.35", FeatureGates: map[string]bool{"GangScheduling": true}},
			"GenericWorkload",
		},
		"other component": {clusters.State{
			Version:    "1.35",
			Components: map[clusters.Component]clusters.ComponentState{"kube-dns": {}},
		}, "kube-dns"},
		"bad capacity": {clusters.State{
			Version: "1.35",
			Nodes:   []clusters.NodeGroup{{Capacity: map[string]string{"cpu": "many"}}},
		}, "many"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			state, err := p.Resolve(t.Context(), test.state)
			golden.Must(t, err)
			golden.Error(t, p.Check(t.Context(), []clusters.State{state}), test.want)
		})
	}
}
