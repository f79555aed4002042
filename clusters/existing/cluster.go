package existing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/podexec"
)

// Cluster is the cluster that a kubeconfig connects to.
type Cluster struct {
	provider *Provider
	// dir is a temporary folder with the kubeconfig; remove removes it.
	dir, kubeconfig string
	remove          func() error
	first           clusters.State

	mu    sync.Mutex
	state clusters.State
	// between reports that a transition began and did not end: the cluster may have left its state.
	between bool
}

var (
	_ clusters.Provider      = (*Provider)(nil)
	_ clusters.Borrower      = (*Provider)(nil)
	_ clusters.Cluster       = (*Cluster)(nil)
	_ clusters.MetricsSource = (*Cluster)(nil)
	_ clusters.HostReachable = (*Cluster)(nil)
	_ clusters.PodExecutor   = (*Cluster)(nil)
)

// Name returns the name of the cluster's context.
func (c *Cluster) Name() string { return c.provider.name }

// State that the cluster is in.
func (c *Cluster) State() clusters.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// RESTConfig connects to the API server as the kubeconfig's user.
func (c *Cluster) RESTConfig() *rest.Config { return rest.CopyConfig(c.provider.rest) }

// KubeconfigPath returns a temporary copy of the user's kubeconfig that has only the chosen context. Delete removes it.
func (c *Cluster) KubeconfigPath() string { return c.kubeconfig }

// HostAddress returns the address at which the cluster's API server reaches this machine.
func (c *Cluster) HostAddress() string { return c.provider.hostAddress() }

// Metrics reads the API server's metrics. Those of other components cannot be reached from outside of the cluster.
func (c *Cluster) Metrics(ctx context.Context, component clusters.Component) ([]byte, error) {
	if component != clusters.APIServer {
		return nil, errors.New("on an existing cluster only kube-apiserver's metrics are available")
	}
	return c.provider.metrics(ctx)
}

// ExecInPod runs a command in a container of a pod.
func (c *Cluster) ExecInPod(ctx context.Context, namespace, pod, container string, command []string,
	stdin io.Reader,
) (stdout, stderr []byte, exitCode int, err error) {
	return podexec.Exec(ctx, c.provider.rest, namespace, pod, container, command, stdin)
}

// Converge runs the transition command. Afterwards the cluster must be in the state, as far as the cluster shows it.
func (c *Cluster) Converge(ctx context.Context, state clusters.State) error {
	if c.isAt(state) {
		return c.reached(state)
	}
	command, err := c.command(state)
	if err != nil {
		return err
	}
	if err := command.start(ctx); err != nil {
		return err
	}
	c.setOut(state)
	if err := command.wait(ctx); err != nil {
		return err
	}
	if err := c.settle(ctx, state); err != nil {
		return fmt.Errorf("%s: %w", command.Args[0], err)
	}
	return c.reached(state)
}

// isAt reports whether the cluster is in a state, except for its systems.
func (c *Cluster) isAt(state clusters.State) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.between && sameCluster(state, c.state)
}

// setOut notes that the cluster may be anywhere between two states.
func (c *Cluster) setOut(to clusters.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.between = true
	left := fmt.Sprintf("a transition to %s did not end", to)
	c.provider.left.Store(&left)
}

func (c *Cluster) reached(state clusters.State) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state, c.between = state, false
	if sameCluster(state, c.first) {
		c.provider.left.Store(nil)
		return nil
	}
	left := fmt.Sprintf("a transition has led to %s", state)
	c.provider.left.Store(&left)
	return nil
}

// Collect does nothing: the logs of an existing cluster are not available.
func (c *Cluster) Collect(context.Context, string) error { return nil }

// Delete leaves the cluster as it is. It removes the copy of the kubeconfig.
func (c *Cluster) Delete(context.Context) error {
	if err := c.remove(); err != nil {
		return fmt.Errorf("remove the copy of the kubeconfig: %w", err)
	}
	return nil
}
