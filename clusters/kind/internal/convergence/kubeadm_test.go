package convergence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/live"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/record"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/staticpods"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// readingEngine has one node, whose files are in the folder $NODE.
const readingEngine = `#!/bin/sh
for last do :; done
if [ -e "$NODE$last" ]; then cat "$NODE$last"; fi
`

// oneNode returns a converger of a cluster with one node, and the folder of the node's files.
func oneNode(t *testing.T, state clusters.State, config string) (*Converger, string) {
	t.Helper()
	bin, node := t.TempDir(), t.TempDir()
	golden.Write(t, filepath.Join(bin, "docker"), readingEngine)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("NODE", node)
	kept, err := record.New(t.TempDir(), "c", state)
	golden.Must(t, err)
	e := &engine.Engine{Program: "docker"}
	cluster := &live.Cluster{
		Name: "c", Engine: e, Nodes: []nodes.Node{{Engine: e, Name: "c-control-plane", ControlPlane: true}},
		Client: fake.NewSimpleClientset(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "kubeadm-config", Namespace: metav1.NamespaceSystem},
			Data:       map[string]string{"ClusterConfiguration": config},
		}),
	}
	return New(cluster, kept, nil, nil), node
}

// writeManifests writes the manifests of the control plane with flags.
func writeManifests(t *testing.T, node string, flags ...string) {
	t.Helper()
	for _, component := range clusters.ControlPlane() {
		path := filepath.Join(node, staticpods.ManifestsFolder, string(component)+".yaml")
		golden.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		text := "spec: {containers: [{image: 'x:v1', command: [" + strings.Join(append([]string{string(component)}, flags...),
			", ") + "]}]}"
		golden.Write(t, path, text)
	}
}

// What kubeadm sets for a state is removed with the state: from the manifests, and from what the next upgrade by
// kubeadm sets.
func TestFlagsOfKubeadmGoBack(t *testing.T) {
	const config = `apiServer: {extraArgs: [{name: kept, value: x}]}
controllerManager: {extraArgs: [{name: kept, value: x}]}
scheduler: {extraArgs: [{name: kept, value: x}]}
kubernetesVersion: v1.34.4
`
	old := clusters.State{Version: "1.34.4"}
	gated := clusters.State{
		Version: "1.35.4", FeatureGates: map[string]bool{"G": true},
		Components: map[clusters.Component]clusters.ComponentState{clusters.APIServer: {Flags: map[string]string{"v": "4"}}},
	}
	plain := clusters.State{Version: "1.35.4"}
	c, node := oneNode(t, old, config)
	configured := func() string {
		found, err := c.Client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(t.Context(), "kubeadm-config",
			metav1.GetOptions{})
		golden.Must(t, err)
		return found.Data["ClusterConfiguration"]
	}
	writeManifests(t, node, "--v=2")
	golden.Must(t, noteReplaced(t.Context(), c, gated))
	golden.Must(t, c.writeClusterConfiguration(t.Context(), old.Version, gated))
	if got := configured(); strings.Count(got, "value: G=true") != 3 ||
		!strings.Contains(got, "kubernetesVersion: v1.34.4") {
		t.Errorf("kubeadm gets:\n%s", got)
	}
	writeManifests(t, node, "--v=4", "--feature-gates=G=true") // kubeadm's
	golden.Must(t, c.Record.Arrive(gated))
	for _, component := range clusters.ControlPlane() {
		r, err := c.plan(t.Context(), c.ControlPlane(), component, plain)
		golden.Must(t, err)
		pod, err := staticpods.Parse(component, r.manifest)
		golden.Must(t, err)
		want := string(component) + " --v=4"
		if component == clusters.APIServer {
			want = string(component) + " --v=2"
		}
		if got := strings.Join(pod.Command(), " "); got != want {
			t.Errorf("afterwards it is %q, want %q", got, want)
		}
	}
	golden.Must(t, c.writeClusterConfiguration(t.Context(), plain.Version, plain))
	if got := configured(); strings.Contains(got, "feature-gates") || strings.Count(got, "kept") != 3 ||
		!strings.Contains(got, "kubernetesVersion: v1.35.4") {
		t.Errorf("afterwards kubeadm gets:\n%s", got)
	}
}
