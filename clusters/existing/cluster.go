package existing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/podexec"
)

// Cluster is the cluster that a kubeconfig connects to.
type Cluster struct {
	provider *Provider
	mu       sync.Mutex
	state    clusters.State
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

// KubeconfigPath returns the kubeconfig of the user.
func (c *Cluster) KubeconfigPath() string { return c.provider.options.Kubeconfig }

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

// Converge runs the transition command with KUBECONFIG, REHEARSE_VERSION, REHEARSE_FEATURE_GATES (A=true,B=false) and
// REHEARSE_STATE (JSON). Afterwards the cluster must be in the state, as far as the cluster shows it.
func (c *Cluster) Converge(ctx context.Context, state clusters.State) error {
	if sameCluster(state, c.State()) {
		return c.reached(state)
	}
	encoded, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("write the state for the transition command: %w", err)
	}
	var gates []string
	for _, gate := range clusters.SortedKeys(state.FeatureGates) {
		gates = append(gates, fmt.Sprintf("%s=%t", gate, state.FeatureGates[gate]))
	}
	run := c.provider.options.TransitionCommand
	if len(run) == 0 {
		return errors.New("there is no --transition-command")
	}
	command := exec.CommandContext(ctx, run[0], run[1:]...)
	command.WaitDelay = time.Second // do not wait for a child that inherited its output
	command.Env = append(os.Environ(), "KUBECONFIG="+c.KubeconfigPath(), "REHEARSE_VERSION="+state.Version,
		"REHEARSE_FEATURE_GATES="+strings.Join(gates, ","), "REHEARSE_STATE="+string(encoded))
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w; it said:\n%s", run[0], err, output)
	}
	if err := c.settle(ctx, state); err != nil {
		return fmt.Errorf("%s: %w", run[0], err)
	}
	return c.reached(state)
}

func (c *Cluster) reached(state clusters.State) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state
	return nil
}

// Collect does nothing: the logs of an existing cluster are not available.
func (c *Cluster) Collect(context.Context, string) error { return nil }

// Delete leaves the cluster as it is.
func (c *Cluster) Delete(context.Context) error { return nil }
