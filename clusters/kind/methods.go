package kind

import (
	"context"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/convergence"
)

// MethodKubeadm changes the version with `kubeadm upgrade`, to rehearse that tool.
const MethodKubeadm = "kubeadm"

// CheckMethod rejects unknown methods, and steps that kubeadm does not support.
func (p *Provider) CheckMethod(from, to clusters.State, method string) error {
	if method != MethodKubeadm {
		return fmt.Errorf("kind clusters support %s, and their default method, which has no name", MethodKubeadm)
	}
	return convergence.CheckKubeadm(from, to)
}

// ConvergeBy is Converge by a method: "" for the default, or MethodKubeadm.
func (c *Cluster) ConvergeBy(ctx context.Context, state clusters.State, method string) error {
	if method != "" && method != MethodKubeadm {
		return fmt.Errorf("method %q: kind clusters support %s, and their default method, which has no name",
			method, MethodKubeadm)
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

// converger returns the cluster's converger. It rejects a state that the cluster cannot change to.
func (c *Cluster) converger(ctx context.Context, state clusters.State) (*convergence.Converger, error) {
	if err := c.connect(ctx); err != nil {
		return nil, err
	}
	return c.change, errors.Join(checkStep(c.State(), state), c.live.Host.CheckSystems(state.Systems))
}

// Kill kills a component of the control plane, or etcd, without warning, and leaves it down. It kills the component
// on all control planes at once, unless the component names one.
func (c *Cluster) Kill(ctx context.Context, component clusters.Component) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	return c.change.Kill(ctx, component)
}

// Restart stops a component if it runs, starts it unchanged, and waits for it.
func (c *Cluster) Restart(ctx context.Context, component clusters.Component) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	return c.change.Restart(ctx, component)
}

// Rediscover restarts kube-controller-manager: no signal makes it look for new kinds.
func (c *Cluster) Rediscover(ctx context.Context) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	return c.change.Rediscover(ctx)
}
