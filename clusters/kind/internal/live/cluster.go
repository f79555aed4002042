// Package live connects to a running kind cluster (its nodes, API servers and metrics) and waits for it.
package live

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kind/pkg/cluster/constants"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/waiting"
)

// Cluster is a running kind cluster: its nodes, and the clients of its API servers.
type Cluster struct {
	Name   string
	Engine *engine.Engine
	// Nodes are its nodes, the control planes first.
	Nodes []nodes.Node
	// Host is this machine, as the nodes see it.
	Host Host
	// REST, API and Client reach the API server, or any one of several, as the administrator.
	REST   *rest.Config
	API    *Server
	Client kubernetes.Interface

	// own maps the name of a control plane node to its API server.
	own map[string]*Server
	// Tell reports progress.
	Tell clusters.Progress
}

// Find finds a cluster's containers.
func Find(ctx context.Context, e *engine.Engine, name, dir string, state clusters.State,
	tell clusters.Progress,
) (*Cluster, error) {
	c := &Cluster{Name: name, Engine: e, Tell: tell, own: map[string]*Server{}}
	containers, err := nodes.Own(ctx, e, name, dir)
	if err != nil {
		return nil, err
	}
	for _, container := range containers {
		if container.Role != nodes.BalancerRole {
			c.Nodes = append(c.Nodes,
				nodes.Node{Engine: e, Name: container.Name, ControlPlane: container.Role == constants.ControlPlaneNodeRoleValue})
		}
	}
	nodes.Sort(c.Nodes)
	if err := nodes.SetNames(c.Nodes, state.Nodes); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", name, err)
	}
	if len(c.Nodes) == 0 || !c.Nodes[0].ControlPlane {
		return nil, fmt.Errorf("cluster %s has no control plane node", name)
	}
	if have, want := len(c.ControlPlanes()), state.NumberOfControlPlanes(); have != want {
		return nil, fmt.Errorf("cluster %s has %d of its %d control planes", name, have, want)
	}
	c.Host, err = findHost(ctx, c.ControlPlane())
	return c, err
}

// Reach makes the clients of the cluster.
func (c *Cluster) Reach(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("read the kubeconfig of cluster %s: %w", c.Name, err)
	}
	config.QPS = -1 // the client must not throttle a test
	c.REST = config
	if c.API, err = newServer(config, kubeconfig); err != nil {
		return fmt.Errorf("make a client for cluster %s: %w", c.Name, err)
	}
	if err := c.findAPIServers(ctx); err != nil {
		return fmt.Errorf("find the API servers of cluster %s: %w", c.Name, err)
	}
	c.Client = c.API.Client
	return nil
}

// Say reports progress on the cluster.
func (c *Cluster) Say(format string, args ...any) {
	c.Tell("kind cluster %s: "+format, append([]any{c.Name}, args...)...)
}

// Await repeats a check until it returns nil.
func (c *Cluster) Await(ctx context.Context, what string, look func(context.Context) error) error {
	return waiting.Until(ctx, c.Say, what, look)
}

// Server returns the API server of one control plane.
func (c *Cluster) Server(n nodes.Node) *Server { return c.own[n.Name] }
