package kind

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Converge brings the cluster to a state. What the new version needs is brought into the nodes before anything is stopped for it.
func (c *Cluster) Converge(ctx context.Context, state clusters.State) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	from := c.State()
	if err := checkStep(from, state); err != nil {
		return err
	}
	var bin artifacts
	mixed, err := c.setOut(state.Version)
	if err != nil {
		return err
	}
	if state.Version != from.Version || mixed != "" {
		if bin, err = c.bring(ctx, state.Version); err != nil {
			return err
		}
	}
	order := c.upward
	if goesDown(from, state) || goesDown(clusters.State{Version: mixed}, state) {
		order = c.downward
	}
	if mixed != "" && c.answers(ctx) != nil {
		order = c.upward // which begins with the API server, without which nothing else can be changed
	}
	if err := order(ctx, state, bin); err != nil {
		return err
	}
	if err := c.finish(ctx, state); err != nil {
		return err
	}
	return c.arrive(state)
}

// setOut notes that the cluster is on its way to a version, and returns the version that an earlier transition did not reach, "" for none: parts of
// the cluster may have it.
func (c *Cluster) setOut(version string) (mixed string, err error) {
	c.mu.Lock()
	if c.record.Towards != c.record.State.Version {
		mixed = c.record.Towards
	}
	changed := version != c.record.State.Version
	if changed {
		c.record.Towards = version
	}
	c.mu.Unlock()
	if changed {
		err = c.save()
	}
	return mixed, err
}

// arrive notes that the cluster is in a state. What the state says nothing of has gone back to what it was, on every node.
func (c *Cluster) arrive(state clusters.State) error {
	c.mu.Lock()
	c.record.State, c.record.Towards = state, ""
	for component, ours := range c.record.Ours {
		wanted := stateFlags(state, component)
		maps.DeleteFunc(ours, func(name string, _ *string) bool { _, still := wanted[name]; return !still })
	}
	c.mu.Unlock()
	return c.save()
}

// answers looks once whether the API server answers.
func (c *Cluster) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, oneLook)
	defer cancel()
	return c.apiReady(ctx)
}

// bring brings another version's images into all nodes.
func (c *Cluster) bring(ctx context.Context, version string) (artifacts, error) {
	bin, err := c.provider.artifacts(ctx, version)
	if err != nil {
		return bin, err
	}
	c.provider.Progress("kind cluster %s: bringing Kubernetes %s into the nodes", c.record.Name, version)
	loading, ctx := errgroup.WithContext(ctx)
	for _, n := range c.nodes {
		loading.Go(func() error { return n.loadImages(ctx, bin.dir+"/"+componentsTar, bin.components) })
	}
	return bin, loading.Wait()
}

// stage is a node, and those of its components that are changed at once.
type stage struct {
	node       node
	components []clusters.Component
}

// stages are those of an upgrade: all API servers, and then all else node by node, so that nothing that may ask any of them is newer than one.
func stages(nodes []node) []stage {
	var first, rest []stage
	for _, n := range nodes {
		if !n.controlPlane {
			rest = append(rest, stage{n, []clusters.Component{clusters.Kubelet}})
			continue
		}
		first = append(first, stage{n, []clusters.Component{clusters.APIServer}})
		rest = append(rest, stage{n, []clusters.Component{clusters.ControllerManager, clusters.Scheduler, clusters.Kubelet}})
	}
	return append(first, rest...)
}

// upward goes in the order in which the version skew policy has an upgrade go: nothing is ever newer than the API server. Without a change of
// version there is nothing to order.
func (c *Cluster) upward(ctx context.Context, state clusters.State, bin artifacts) error {
	if bin.dir == "" {
		return c.together(ctx, state)
	}
	for _, s := range stages(c.nodes) {
		if err := c.changeNode(ctx, s.node, state, bin, s.components...); err != nil {
			return err
		}
	}
	return c.convergeProxy(ctx, state)
}

// together changes a control plane at once, several one after the other, and the rest as soon as there is the last API server again.
func (c *Cluster) together(ctx context.Context, state clusters.State) error {
	all := append(clusters.ControlPlane(), clusters.Kubelet)
	planes := c.controlPlanes()
	last := planes[len(planes)-1]
	for _, n := range planes[:len(planes)-1] {
		if err := c.changeNode(ctx, n, state, artifacts{}, all...); err != nil {
			return err
		}
	}
	change, err := c.planNode(ctx, last, state, artifacts{}, all...)
	if err != nil {
		return err
	}
	if err := c.begin(ctx, change); err != nil {
		return err
	}
	waiting, waitingCtx := errgroup.WithContext(ctx)
	waiting.Go(func() error { return c.awaitChange(waitingCtx, change) })
	waiting.Go(func() error {
		if err := c.await(waitingCtx, "the API server", c.apiReady); err != nil {
			return err
		}
		for _, n := range c.nodes[len(planes):] {
			waiting.Go(func() error { return c.changeNode(waitingCtx, n, state, artifacts{}, clusters.Kubelet) })
		}
		return c.convergeProxy(waitingCtx, state)
	})
	return c.blame(ctx, change, waiting.Wait())
}

// downward reverses it. A scheduler may not become ready before the API server has come down, too: it may wait for an API that only the older one serves.
func (c *Cluster) downward(ctx context.Context, state clusters.State, bin artifacts) error {
	if err := c.convergeProxy(ctx, state); err != nil {
		return err
	}
	var early []*nodeChange
	for _, s := range slices.Backward(stages(c.nodes)) {
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

// finish keeps true what is written down of the cluster, and waits until it can be used.
func (c *Cluster) finish(ctx context.Context, state clusters.State) error {
	for _, n := range c.nodes {
		if err := n.write(ctx, kindVersion, strings.NewReader("v"+state.Version), "644"); err != nil {
			return err
		}
	}
	if err := c.await(ctx, "the API server", c.apiReady); err != nil {
		return err
	}
	if err := c.writeKubeletConfigMap(ctx, state); err != nil {
		return err
	}
	if err := c.settled(ctx); err != nil {
		return err
	}
	if err := c.usable(ctx, state); err != nil {
		return err
	}
	if err := c.dnsCurrent(ctx); err != nil {
		return err
	}
	if err := c.advertise(ctx, state.Nodes); err != nil {
		return err
	}
	return c.prove(ctx, state)
}

// writeKubeletConfigMap keeps what nodes that join, and kubeadm upgrade, take kubelet's configuration from.
func (c *Cluster) writeKubeletConfigMap(ctx context.Context, state clusters.State) error {
	const name, key = "kubelet-config", "kubelet"
	configs := c.client.CoreV1().ConfigMaps(metav1.NamespaceSystem)
	config, err := configs.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read the ConfigMap %s: %w", name, err)
	}
	wanted, err := withGates(config.Data[key], state.Gates(clusters.Kubelet))
	if err != nil {
		return fmt.Errorf("read the ConfigMap %s: %w", name, err)
	}
	if same, err := sameYAML(config.Data[key], wanted); err != nil || same {
		return err
	}
	config.Data[key] = wanted
	if _, err := configs.Update(ctx, config, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("write the ConfigMap %s: %w", name, err)
	}
	return nil
}

func goesDown(from, to clusters.State) bool {
	before, err1 := clusters.ParseVersion(from.Version)
	after, err2 := clusters.ParseVersion(to.Version)
	return err1 == nil && err2 == nil && after.Compare(before) < 0
}
