package live

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/waiting"
	"github.com/rehearse-dev/rehearse/clusters/proof"
)

// Prove checks every component of every node, by its own metrics, for the version and the gates of the state.
func (c *Cluster) Prove(ctx context.Context, state clusters.State) error {
	proofs, ctx := errgroup.WithContext(ctx)
	for _, component := range Gated() {
		for _, n := range c.Nodes {
			if n.ControlPlane || component == clusters.Kubelet || component == clusters.KubeProxy {
				proofs.Go(func() error { return c.proveOne(ctx, component, n, state) })
			}
		}
	}
	return proofs.Wait()
}

func (c *Cluster) proveOne(ctx context.Context, component clusters.Component, n nodes.Node,
	state clusters.State,
) error {
	return c.Await(ctx, fmt.Sprintf("the metrics of %s on %s", component, n.Name), func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, OneLook)
		defer cancel()
		metrics, err := c.NodeMetrics(ctx, component, n)
		if err != nil {
			return err
		}
		if err := proof.Component(metrics, state.Version, state.Gates(component)); err != nil {
			return waiting.Final(fmt.Errorf("%s on %s: %w", component, n.Name, err))
		}
		return nil
	})
}

// Gated returns the components that have feature gates.
func Gated() []clusters.Component {
	return append(clusters.ControlPlane(), clusters.Kubelet, clusters.KubeProxy)
}
