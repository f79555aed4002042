package kind

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/staticpods"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// All three control planes get the new gate and then the new version, one after the other, and no object is lost.
func TestSlowLiveControlPlanes(t *testing.T) {
	p := onEngine(t)
	off := resolved(t, p, clusters.State{Version: "1.34", ControlPlanes: 3, FeatureGates: map[string]bool{gate: false}})
	c := create(t, p, "rehearse-live-planes", off)
	if n := len(c.live.ControlPlanes()); n != 3 {
		t.Fatalf("%d control planes", n)
	}
	on := off.With(clusters.Change{FeatureGates: map[string]*bool{gate: ptr(true)}})
	if err := c.Converge(t.Context(), on); err != nil {
		t.Fatalf("gate on: %v", err)
	}
	for i, n := range c.live.ControlPlanes() {
		if _, err := c.live.Server(n).Client.CoreV1().Services("default").Create(t.Context(),
			service(fmt.Sprintf("%d-web", i)), metav1.CreateOptions{}); err != nil {
			t.Errorf("gate on, %s: %v", n.Name, err)
		}
	}
	up := resolved(t, p, clusters.State{Version: "1.35"}).Version
	next := off.With(clusters.Change{Version: up})
	stopsAndGoesOn(t, c, off.Version, next)
	if err := c.Converge(t.Context(), next); err != nil {
		t.Fatalf("up to %s, gate off: %v", up, err)
	}
	for _, n := range c.live.ControlPlanes() {
		if got := serves(t, c, n); got != "v"+up {
			t.Errorf("%s runs %s, not v%s", n.Name, got, up)
		}
		if _, err := c.live.Server(n).Client.CoreV1().Services("default").Create(t.Context(), service("8-web"),
			metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
			t.Errorf("gate off, %s: %v", n.Name, err)
		}
		services, err := c.live.Server(n).Client.CoreV1().Services("default").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(services.Items) != 4 { // three of this test, and kubernetes
			t.Errorf("%s has %d Services, %v", n.Name, len(services.Items), err)
		}
		out, err := n.Shell(t.Context(),
			"cat "+staticpods.ManifestsFolder+"/kube-scheduler.yaml "+staticpods.ManifestsFolder+"/kube-controller-manager.yaml")
		if err != nil || strings.Count(out, "--leader-elect=true") != 2 {
			t.Errorf("%s: they do not elect a leader: %v\n%s", n.Name, err, out)
		}
	}
	endsAndComesBack(t, c)
}

// stopsAndGoesOn changes the first of three control planes, and then the second. The cluster reports for each API
// server the version that the API server itself reports.
func stopsAndGoesOn(t *testing.T, c *Cluster, old string, next clusters.State) {
	t.Helper()
	for changed := 1; changed < 3; changed++ {
		if err := c.Roll(t.Context(), next, clusters.Roll{UpTo: changed}); err != nil {
			t.Fatalf("%d control planes up to %s: %v", changed, next.Version, err)
		}
		for i, server := range c.Servers() {
			want := next.Version
			if i >= changed {
				want = old
			}
			if got := serves(t, c, c.live.ControlPlanes()[i]); got != "v"+want || server.Version != want ||
				server.Behind != (i >= changed) {
				t.Errorf("%d changed, %s: it runs %s, behind: %t", changed, server, got, server.Behind)
			}
			own, err := clientcmd.BuildConfigFromFlags("", server.Kubeconfig)
			if err != nil || own.Host != server.REST.Host {
				t.Errorf("the kubeconfig of %s reaches %v, %v", server, own, err)
			}
		}
	}
}

// endsAndComesBack kills etcd on every control plane, so that no API server stays ready, and restarts it. Then it reads
// the metrics of the leaders.
func endsAndComesBack(t *testing.T, c *Cluster) {
	t.Helper()
	golden.Must(t, c.Kill(t.Context(), clusters.Etcd))
	for _, n := range c.live.ControlPlanes() {
		if err := c.live.Server(n).Ready(t.Context()); err == nil {
			t.Errorf("%s is ready without etcd", n.Name)
		}
	}
	golden.Must(t, c.Restart(t.Context(), clusters.Etcd))
	golden.Must(t, c.live.Usable(t.Context(), c.State(), c.live.ControlPlanes()))
	for _, component := range append(clusters.ControlPlane(), clusters.Etcd) {
		// The API server shows a restarted pod again only after a moment.
		if err := c.live.Await(t.Context(), "metrics of "+string(component), func(ctx context.Context) error {
			_, err := c.Metrics(ctx, component)
			return err
		}); err != nil {
			t.Error(err)
		}
	}
}

// serves returns the version that a node's API server reports.
func serves(t *testing.T, c *Cluster, n nodes.Node) string {
	t.Helper()
	data, err := c.live.Server(n).Get(t.Context(), "/version")
	if err != nil {
		t.Errorf("%s: %v", n.Name, err)
		return ""
	}
	var version struct{ GitVersion string }
	if err := json.Unmarshal(data, &version); err != nil {
		t.Errorf("%s: %v", n.Name, err)
	}
	return version.GitVersion
}

func service(name string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}
}
