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

// ControlPlanes returns the control plane nodes.
func (c *Cluster) ControlPlanes() []nodes.Node {
	n := 0
	for n < len(c.Nodes) && c.Nodes[n].ControlPlane {
		n++
	}
	return c.Nodes[:n]
}

// ControlPlane returns the first control plane node, which the others have joined.
func (c *Cluster) ControlPlane() nodes.Node { return c.Nodes[0] }

// On returns " on NODE", to tell the control planes apart in messages; "" if there is only one.
func (c *Cluster) On(n nodes.Node) string {
	if len(c.ControlPlanes()) == 1 {
		return ""
	}
	return " on " + n.NodeName
}

// Server is a client of one API server, or of several through their load balancer.
type Server struct {
	REST   *rest.Config
	Client kubernetes.Interface
	// Kubeconfig is a file with which programs reach it.
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

// findAPIServers finds the port of this machine for each node's API server. Their certificates are valid for that
// address, too.
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

// Get reads a path. Unlike client-go, it does not retry when the API server is away.
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
