package kind

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kind/pkg/cluster"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/creation"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/live"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The costs of kind clusters relative to kind's own creation with the same image and to kubeadm's upgrade to the same
// version, measured in one run.
func BenchmarkLive(b *testing.B) {
	p := onEngine(b)
	ctx := b.Context()
	low, err := p.Resolve(ctx, clusters.State{Version: "1.34", FeatureGates: map[string]bool{gate: false}})
	golden.Must(b, err)
	high, err := p.Resolve(ctx, low.With(clusters.Change{Version: "1.35"}))
	golden.Must(b, err)
	for _, state := range []clusters.State{low, high} { // the cost of the first use of an image is not measured
		if _, err := p.source().Artifacts(ctx, state.Version); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		var c clusters.Cluster
		var plain, plainDNS, create time.Duration
		for range creations { // in turn, and the fastest of each: other load of the machine slows down both
			if c != nil {
				deleteCluster(b, c)
			}
			took, withDNS := plainKind(b, p, low)
			plain, plainDNS = best(plain, took), best(plainDNS, withDNS)
			create = best(create, timed(b, func() (err error) { c, err = p.Create(ctx, "rehearse-bench", low); return err }))
		}
		on := low.With(clusters.Change{FeatureGates: map[string]*bool{gate: ptr(true)}})
		change := timed(b, func() error { return c.Converge(ctx, on) })
		up := timed(b, func() error { return c.Converge(ctx, on.With(clusters.Change{Version: high.Version})) })
		down := timed(b, func() error { return c.Converge(ctx, low) })
		kubeadm := byKubeadm(b, c.(*Cluster), high)
		deleteCluster(b, c)
		for name, took := range map[string]time.Duration{
			"plain-kind": plain, "plain-kind-with-dns": plainDNS,
			"create": create, "gate-change": change, "up": up, "down": down, "kubeadm-up": kubeadm,
		} {
			b.ReportMetric(took.Seconds(), "s/"+name)
		}
		b.ReportMetric(create.Seconds()/plain.Seconds(), "create/plain-kind")
		b.ReportMetric(create.Seconds()/plainDNS.Seconds(), "create/plain-kind-with-dns")
		b.ReportMetric(up.Seconds()/kubeadm.Seconds(), "up/kubeadm-up")
	}
}

// creations is how often each of the two ways to create a cluster is measured.
const creations = 2

func best(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

func deleteCluster(b *testing.B, c clusters.Cluster) {
	b.Helper()
	if err := c.Delete(context.WithoutCancel(b.Context())); err != nil {
		b.Error(err)
	}
}

// byKubeadm returns how long `kubeadm upgrade apply` alone takes: without the preparation of the node, and without the
// steps that kubeadm leaves to its user. The whole upgrade must succeed, too.
func byKubeadm(b *testing.B, c *Cluster, state clusters.State) time.Duration {
	b.Helper()
	golden.Must(b, c.change.ReadyKubeadm(b.Context(), state))
	took := timed(b, func() error { return c.change.RunKubeadm(b.Context(), state) })
	golden.Must(b, c.ConvergeBy(b.Context(), state, ""))
	return took
}

// plainKind returns how long `kind create cluster --wait` with the same image takes, which does not wait for CoreDNS,
// and how long it takes until CoreDNS is ready, too.
func plainKind(b *testing.B, p *Provider, state clusters.State) (took, withDNS time.Duration) {
	b.Helper()
	e, err := p.engine(b.Context())
	golden.Must(b, err)
	image, _, err := p.source().Image(b.Context(), state.Version)
	golden.Must(b, err)
	const name = "rehearse-bench-plain"
	kubeconfig := filepath.Join(b.TempDir(), "kubeconfig")
	maker := cluster.NewProvider(creation.NodeProvider(e))
	config := fmt.Sprintf("kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes: [{role: control-plane, image: "+
		"%q}]\nkubeadmConfigPatches: [\"kind: KubeletConfiguration\\nfailCgroupV1: false\\n\"]\n", image)
	took = timed(b, func() error {
		return maker.Create(name, cluster.CreateWithRawConfig([]byte(config)), cluster.CreateWithKubeconfigPath(kubeconfig),
			cluster.CreateWithWaitForReady(5*time.Minute))
	})
	withDNS = took + timed(b, func() error {
		rest, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return err
		}
		client, err := kubernetes.NewForConfig(rest)
		if err != nil {
			return err
		}
		c := &live.Cluster{Client: client, Tell: p.Progress}
		return c.Await(b.Context(), "CoreDNS of plain kind", c.DNSReady)
	})
	if err := maker.Delete(name, kubeconfig); err != nil {
		b.Error(err)
	}
	return took, withDNS
}

func timed(b *testing.B, do func() error) time.Duration {
	b.Helper()
	begun := time.Now()
	golden.Must(b, do())
	return time.Since(begun)
}
