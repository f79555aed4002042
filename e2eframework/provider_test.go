package e2eframework_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/e2e-framework/klient/wait"
	"sigs.k8s.io/e2e-framework/klient/wait/conditions"
	"sigs.k8s.io/e2e-framework/pkg/env"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"github.com/rehearse-dev/rehearse"
	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/e2eframework"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestMain(m *testing.M) { rehearse.Main(m) }

// A feature of the e2e-framework runs on a real control plane of ours, before and after a transition.
func TestFeature(t *testing.T) {
	one := 1
	provider := clustertest.Local(t)
	wrapped := e2eframework.New(provider, clusters.State{Nodes: []clusters.NodeGroup{{Count: &one}}})
	wrapped.WithName("e2e-framework-feature").WithVersion("1.35")
	kubeconfig, err := wrapped.Create(t.Context())
	golden.Must(t, err)
	t.Cleanup(func() {
		if err := wrapped.Destroy(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	environment := env.NewWithConfig(envconf.NewWithKubeConfig(kubeconfig))
	feature := features.New("a pod outlives a downgrade").
		Setup(func(ctx context.Context, t *testing.T, c *envconf.Config) context.Context {
			golden.Must(t, wrapped.WaitForControlPlane(ctx, c.Client()))
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			}
			golden.Must(t, c.Client().Resources().Create(ctx, pod))
			return ctx
		}).
		Assess("it runs", func(ctx context.Context, t *testing.T, c *envconf.Config) context.Context {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}}
			if err := wait.For(conditions.New(c.Client().Resources()).PodReady(pod), wait.WithImmediate(),
				wait.WithContext(ctx)); err != nil {
				t.Error(err)
			}
			return ctx
		}).
		Assess("it is the same pod, still ready, one version down",
			func(ctx context.Context, t *testing.T, c *envconf.Config) context.Context {
				var before, after corev1.Pod
				golden.Must(t, c.Client().Resources().Get(ctx, "web", "default", &before))
				next, err := provider.Resolve(ctx, wrapped.Cluster().State().With(clusters.Change{Version: "1.34"}))
				golden.Must(t, err)
				golden.Must(t, wrapped.Cluster().Converge(ctx, next))
				golden.Must(t, c.Client().Resources().Get(ctx, "web", "default", &after))
				if before.UID != after.UID || before.ResourceVersion != after.ResourceVersion {
					t.Errorf("the pod changed: %s at %s, then %s at %s", before.UID, before.ResourceVersion, after.UID,
						after.ResourceVersion)
				}
				return ctx
			}).Feature()
	environment.Test(t, feature)

	logs := t.TempDir()
	golden.Must(t, wrapped.ExportLogs(t.Context(), logs))
	for _, want := range []string{"kube-apiserver-1.log", "kube-apiserver-2.log", "etcd-1.log"} {
		if info, err := os.Stat(filepath.Join(logs, want)); err != nil || info.Size() == 0 {
			t.Errorf("exported logs lack %s: %v", want, err)
		}
	}
}
