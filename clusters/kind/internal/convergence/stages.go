package convergence

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/images"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

// stage is a node, and those of its components that change together.
type stage struct {
	node       nodes.Node
	components []clusters.Component
}

// stages returns the stages of an upgrade: all API servers, and then everything else node by node. So no client is
// ever newer than an API server that it may use.
func stages(nodes []nodes.Node) []stage {
	var first, rest []stage
	for _, n := range nodes {
		if !n.ControlPlane {
			rest = append(rest, stage{n, []clusters.Component{clusters.Kubelet}})
			continue
		}
		first = append(first, stage{n, []clusters.Component{clusters.APIServer}})
		rest = append(rest, stage{n, []clusters.Component{clusters.ControllerManager, clusters.Scheduler, clusters.Kubelet}})
	}
	return append(first, rest...)
}

// upward follows the upgrade order of the version skew policy: nothing is ever newer than the API server. Without a
// change of version the order does not matter.
func (c *Converger) upward(ctx context.Context, state clusters.State, bin images.Artifacts) error {
	if bin.Dir == "" {
		return c.together(ctx, state)
	}
	for _, s := range stages(c.Nodes) {
		if err := c.changeNode(ctx, s.node, state, bin, s.components...); err != nil {
			return err
		}
	}
	return c.convergeProxy(ctx, state)
}

// together changes all components of a control plane at once, and several control planes one after the other. The
// rest follows as soon as the last API server is ready again.
func (c *Converger) together(ctx context.Context, state clusters.State) error {
	all := append(clusters.ControlPlane(), clusters.Kubelet)
	planes := c.ControlPlanes()
	last := planes[len(planes)-1]
	for _, n := range planes[:len(planes)-1] {
		if err := c.changeNode(ctx, n, state, images.Artifacts{}, all...); err != nil {
			return err
		}
	}
	change, err := c.planNode(ctx, last, state, images.Artifacts{}, all...)
	if err != nil {
		return err
	}
	if err := c.begin(ctx, change); err != nil {
		return err
	}
	waiting, waitingCtx := errgroup.WithContext(ctx)
	waiting.Go(func() error { return c.awaitChange(waitingCtx, change) })
	waiting.Go(func() error {
		if err := c.Await(waitingCtx, "the API server", c.APIReady); err != nil {
			return err
		}
		for _, n := range c.Nodes[len(planes):] {
			waiting.Go(func() error { return c.changeNode(waitingCtx, n, state, images.Artifacts{}, clusters.Kubelet) })
		}
		return c.convergeProxy(waitingCtx, state)
	})
	return c.blame(ctx, change, waiting.Wait())
}

// downward follows the reverse order. A scheduler need not be ready before the API server has been rolled back, too:
// it may wait for an API that only the older one serves.
func (c *Converger) downward(ctx context.Context, state clusters.State, bin images.Artifacts) error {
	if err := c.convergeProxy(ctx, state); err != nil {
		return err
	}
	var early []*nodeChange
	for _, s := range slices.Backward(stages(c.Nodes)) {
		change, err := c.planNode(ctx, s.node, state, bin, s.components...)
		if err != nil {
			return err
		}
		if change.early = !slices.Contains(s.components, clusters.APIServer); change.early {
			early = append(early, change)
		}
		if err := c.apply(ctx, change); err != nil {
			return err
		}
	}
	for _, change := range early {
		change.early = false
		if err := c.awaitChange(ctx, change); err != nil {
			return err
		}
	}
	return nil
}

func goesDown(from, to clusters.State) bool {
	before, err1 := clusters.ParseVersion(from.Version)
	after, err2 := clusters.ParseVersion(to.Version)
	return err1 == nil && err2 == nil && after.Compare(before) < 0
}
