package live

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/waiting"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// Nobody waits for a leader among components that were all killed.
func TestLed(t *testing.T) {
	const manager, scheduler = "kube-controller-manager", "kube-scheduler"
	for name, c := range map[string]struct {
		manifests []string // NODE/COMPONENT
		asked     []string
		failure   error
	}{
		"all run":                    {manifests: []string{"a/" + manager, "a/" + scheduler}, asked: []string{manager, scheduler}},
		"one scheduler runs":         {manifests: []string{"a/" + manager, "c/" + scheduler}, asked: []string{manager, scheduler}},
		"the schedulers were killed": {manifests: []string{"a/" + manager}, asked: []string{manager}},
		"nothing leads": {
			manifests: []string{"a/" + manager, "a/" + scheduler}, asked: []string{manager}, failure: errors.New("no lease"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder, bin := t.TempDir(), t.TempDir()
			for _, manifest := range c.manifests {
				golden.Write(t, filepath.Join(folder, manifest+".yaml"), "kind: Pod")
			}
			golden.Write(t, filepath.Join(bin, "docker"), "#!/bin/sh\nfor last do :; done\n"+
				`case "$last" in /etc/kubernetes/manifests/*) [ ! -e "$FOLDER/$2/${last##*/}" ] || echo "kind: Pod" ;; esac`)
			t.Setenv("FOLDER", folder)
			t.Setenv("PATH", bin)
			client := fake.NewClientset()
			var asked []string
			client.PrependReactor("get", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
				asked = append(asked, action.(clienttesting.GetAction).GetName())
				if c.failure != nil {
					return true, nil, waiting.Final(c.failure)
				}
				// The clock of the nodes may be behind.
				renewed := metav1.NewMicroTime(time.Now().Add(-time.Hour).Add(time.Duration(len(asked)) * time.Second))
				return true, &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{RenewTime: &renewed}}, nil
			})
			cluster := &Cluster{Client: client, Tell: func(string, ...any) {}}
			for _, node := range []string{"a", "b", "c"} {
				cluster.Nodes = append(cluster.Nodes, nodes.Node{
					Engine: &engine.Engine{Program: "docker"}, Name: node, ControlPlane: true,
				})
			}
			if err := cluster.Led(t.Context(), clusters.State{ControlPlanes: 3}); !errors.Is(err, c.failure) {
				t.Errorf("got %v, want %v", err, c.failure)
			}
			if asked = slices.Compact(asked); !slices.Equal(asked, c.asked) {
				t.Errorf("it asked for the leases %q, want %q", asked, c.asked)
			}
		})
	}
}
