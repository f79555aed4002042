package convergence

import (
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/live"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/record"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/staticpods"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// proxyOf returns a converger of a cluster that runs kube-proxy 1.35.4, and the client of its API server.
func proxyOf(t *testing.T) (*Converger, *fake.Clientset) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: proxyName, Namespace: metav1.NamespaceSystem}
	set := &appsv1.DaemonSet{ObjectMeta: meta}
	set.Spec.Template.Spec.Containers = []corev1.Container{{Image: "registry.k8s.io/kube-proxy:v1.35.4"}}
	client := fake.NewSimpleClientset(set,
		&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{proxyConfigKey: "kind: KubeProxyConfiguration\n"}})
	cluster := &live.Cluster{Name: "c", Client: client, Tell: func(string, ...any) {}}
	return New(cluster, &record.Record{Dir: t.TempDir()}, nil, nil), client
}

// rejectUpdates lets the next update of a DaemonSet fail, and none after it.
func rejectUpdates(client *fake.Clientset, err error) {
	rejected := false
	client.PrependReactor("update", "daemonsets", func(clienttesting.Action) (bool, runtime.Object, error) {
		now := !rejected
		rejected = true
		return now, nil, err
	})
}

// replaced returns how often the pods of kube-proxy were replaced, and the revision that they have now.
func replaced(t *testing.T, client *fake.Clientset) (times int, revision string) {
	t.Helper()
	set, err := client.Tracker().Get(appsv1.SchemeGroupVersion.WithResource("daemonsets"), metav1.NamespaceSystem,
		proxyName)
	golden.Must(t, err)
	for _, action := range client.Actions() {
		if action.Matches("update", "daemonsets") {
			times++
		}
	}
	return times, set.(*appsv1.DaemonSet).Spec.Template.Annotations[staticpods.RevisionAnnotation]
}

func gatedProxy(gates map[string]bool) clusters.State {
	return clusters.State{
		Version:    "1.35.4",
		Components: map[clusters.Component]clusters.ComponentState{clusters.KubeProxy: {FeatureGates: gates}},
	}
}

// The pods of kube-proxy are replaced when its configuration changes, and only then.
func TestProxyIsReplacedForItsConfiguration(t *testing.T) {
	c, client := proxyOf(t)
	revisions := map[string]bool{}
	for _, step := range []struct {
		name  string
		gates map[string]bool
		want  int
	}{
		{"as created", nil, 0},
		{"a gate", map[string]bool{"G": true}, 1},
		{"the same gate", map[string]bool{"G": true}, 1},
		{"no gate", nil, 2},
		{"still no gate", nil, 2},
	} {
		golden.Must(t, c.convergeProxy(t.Context(), gatedProxy(step.gates)))
		times, revision := replaced(t, client)
		if times != step.want {
			t.Errorf("%s: it was replaced %d times, want %d", step.name, times, step.want)
		}
		revisions[revision] = true
	}
	if len(revisions) != 3 {
		t.Errorf("the pods had the revisions %v, want three different ones", revisions)
	}
}

// The controller of DaemonSets writes the status while kube-proxy is being changed.
func TestProxyIsReplacedDespiteAConflict(t *testing.T) {
	c, client := proxyOf(t)
	rejectUpdates(client, apierrors.NewConflict(appsv1.Resource("daemonsets"), proxyName, errors.New("modified")))
	golden.Must(t, c.convergeProxy(t.Context(), gatedProxy(map[string]bool{"G": true})))
	if _, revision := replaced(t, client); revision == "" {
		t.Error("kube-proxy was not replaced")
	}
}

// A transition that failed after it had changed the configuration is repeated: kube-proxy must read what is new.
func TestProxyIsReplacedByTheNextAttempt(t *testing.T) {
	c, client := proxyOf(t)
	state := gatedProxy(map[string]bool{"G": true})
	rejectUpdates(client, errors.New("broken"))
	if err := c.convergeProxy(t.Context(), state); err == nil {
		t.Fatal("the first attempt succeeded")
	}
	golden.Must(t, c.convergeProxy(t.Context(), state))
	if _, revision := replaced(t, client); revision == "" {
		t.Error("kube-proxy was not replaced")
	}
}
