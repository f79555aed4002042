package live

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

// ControlPlanes are the nodes that run one.
func (c *Cluster) ControlPlanes() []nodes.Node {
	n := 0
	for n < len(c.Nodes) && c.Nodes[n].ControlPlane {
		n++
	}
	return c.Nodes[:n]
}

// ControlPlane is the node of the first, which the others have joined.
func (c *Cluster) ControlPlane() nodes.Node { return c.Nodes[0] }

// On tells a node from the others that run the same; there is nothing to tell where it is the only one.
func (c *Cluster) On(n nodes.Node) string {
	if len(c.ControlPlanes()) == 1 {
		return ""
	}
	return " on " + n.NodeName
}

// Server is how one API server is reached, or any of several through the load balancer before them.
type Server struct {
	REST   *rest.Config
	Client kubernetes.Interface
	// Kubeconfig is a file by which programs reach it.
	Kubeconfig string

	http *http.Client
}

func newServer(config *rest.Config, kubeconfig string) (*Server, error) {
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfigAndClient(config, h)
	return &Server{REST: config, Client: client, Kubeconfig: kubeconfig, http: h}, err
}

// findAPIServers finds by which port of this machine each node's is reached. Their certificates are for that address,
// too.
func (c *Cluster) findAPIServers(ctx context.Context) error {
	planes := c.ControlPlanes()
	if len(planes) == 1 {
		c.own[planes[0].Name] = c.API
		return nil
	}
	for _, n := range planes {
		out, err := c.Engine.Output(ctx, "port", n.Name, "6443/tcp")
		if err != nil {
			return err
		}
		address, _, _ := strings.Cut(out, "\n")
		config := rest.CopyConfig(c.REST)
		config.Host = "https://" + strings.TrimSpace(address)
		own := c.API.Kubeconfig + "-" + n.NodeName
		if err := writeKubeconfig(c.API.Kubeconfig, own, config.Host); err != nil {
			return err
		}
		if c.own[n.Name], err = newServer(config, own); err != nil {
			return err
		}
	}
	return nil
}

// writeKubeconfig writes a copy of a kubeconfig that reaches another address.
func writeKubeconfig(from, to, address string) error {
	config, err := clientcmd.LoadFromFile(from)
	if err != nil {
		return fmt.Errorf("read %s: %w", from, err)
	}
	for _, cluster := range config.Clusters {
		cluster.Server = address
	}
	return clientcmd.WriteToFile(*config, to)
}

// Get reads a path, without the patience of client-go with an API server that is away.
func (a *Server) Get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.REST.Host+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := a.http.Do(request)
	if err != nil {
		return nil, err
	}
	return readBody("the API server", response)
}
