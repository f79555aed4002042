package kind

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/convergence"
)

// MethodKubeadm makes a version step with `kubeadm upgrade`, for those who rehearse that very tool.
const MethodKubeadm = "kubeadm"

// CheckMethod rejects methods that there are not, and steps that kubeadm does not take.
func (p *Provider) CheckMethod(from, to clusters.State, method string) error {
	if method != MethodKubeadm {
		return fmt.Errorf("kind clusters support %s, and their default method, which has no name", MethodKubeadm)
	}
	return convergence.CheckKubeadm(from, to)
}

// ConvergeBy is Converge by a method: "" for our own, or MethodKubeadm.
func (c *Cluster) ConvergeBy(ctx context.Context, state clusters.State, method string) error {
	if method != "" && method != MethodKubeadm {
		return fmt.Errorf("method %q: kind clusters support %s, and their default method, which has no "+
			"name", method, MethodKubeadm)
	}
	by, err := c.converger(ctx, state)
	if err != nil {
		return err
	}
	if method == MethodKubeadm {
		return by.ConvergeByKubeadm(ctx, state)
	}
	return by.Converge(ctx, state)
}

// Converge brings the cluster to a state.
func (c *Cluster) Converge(ctx context.Context, state clusters.State) error {
	return c.ConvergeBy(ctx, state, "")
}

// converger of the cluster, for a step to a state that it can become.
func (c *Cluster) converger(ctx context.Context, state clusters.State) (*convergence.Converger, error) {
	if err := c.connect(ctx); err != nil {
		return nil, err
	}
	return c.change, checkStep(c.State(), state)
}

// Kill ends a component of the control plane, or etcd, without warning, and leaves it down: of several control planes
// everywhere at once.
func (c *Cluster) Kill(ctx context.Context, component clusters.Component) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	return c.change.Kill(ctx, component)
}

// Restart stops a component if it runs, starts it as it was, and waits for it.
func (c *Cluster) Restart(ctx context.Context, component clusters.Component) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	return c.change.Restart(ctx, component)
}

// Rediscover starts kube-controller-manager anew: no signal makes it look for kinds.
func (c *Cluster) Rediscover(ctx context.Context) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	return c.change.Rediscover(ctx)
}
