package kind

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
)

// controlPlanes are the nodes that run one.
func (c *Cluster) controlPlanes() []node {
	n := 0
	for n < len(c.nodes) && c.nodes[n].controlPlane {
		n++
	}
	return c.nodes[:n]
}

// controlPlane is the node of the first, which the others have joined.
func (c *Cluster) controlPlane() node { return c.nodes[0] }

// on tells a node from the others that run the same; there is nothing to tell where it is the only one.
func (c *Cluster) on(n node) string {
	if len(c.controlPlanes()) == 1 {
		return ""
	}
	return " on " + n.nodeName
}

// apiServer is how one API server is reached, or any of several through the load balancer before them.
type apiServer struct {
	url    string
	http   *http.Client
	client kubernetes.Interface
}

func newAPIServer(config *rest.Config) (*apiServer, error) {
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfigAndClient(config, h)
	return &apiServer{url: config.Host, http: h, client: client}, err
}

// findAPIServers finds by which port of this machine each node's is reached. Their certificates are for that address, too.
func (c *Cluster) findAPIServers(ctx context.Context) error {
	planes := c.controlPlanes()
	if len(planes) == 1 {
		planes[0].api = c.api
		return nil
	}
	for i, n := range planes {
		out, err := c.engine.Output(ctx, "port", n.name, "6443/tcp")
		if err != nil {
			return err
		}
		address, _, _ := strings.Cut(out, "\n")
		config := rest.CopyConfig(c.rest)
		config.Host = "https://" + strings.TrimSpace(address)
		if planes[i].api, err = newAPIServer(config); err != nil {
			return err
		}
	}
	return nil
}

// get reads a path, without the patience of client-go with an API server that is away.
func (a *apiServer) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := a.http.Do(request)
	if err != nil {
		return nil, err
	}
	return readBody("the API server", response)
}

// led waits until of several schedulers, and of several controller managers, one leads that lives. The others take over from one that was ended only when its
// lease has run out, and until then nothing would be scheduled or controlled.
func (c *Cluster) led(ctx context.Context, state clusters.State) error {
	for _, component := range clusters.ControlPlane() {
		if !elected(component) || len(c.controlPlanes()) == 1 || state.Components[component].Flags["leader-elect"] == "false" {
			continue
		}
		since := time.Now()
		err := c.await(ctx, "a leader among those of "+string(component), func(ctx context.Context) error {
			lease, err := c.client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, string(component), metav1.GetOptions{})
			if err != nil {
				return err
			}
			if renewed := lease.Spec.RenewTime; renewed == nil || !renewed.After(since) {
				return errors.New("the lease is that of one that may have ended")
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// leader is the node whose component leads, of components that do not elect one the first.
func (c *Cluster) leader(ctx context.Context, component clusters.Component) (node, error) {
	planes := c.controlPlanes()
	if !elected(component) || len(planes) == 1 {
		return planes[0], nil
	}
	lease, err := c.client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, string(component), metav1.GetOptions{})
	if err != nil {
		return node{}, fmt.Errorf("ask which %s leads: %w", component, err)
	}
	if lease.Spec.HolderIdentity != nil {
		host, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
		for _, n := range planes {
			if n.nodeName == host {
				return n, nil
			}
		}
	}
	return node{}, fmt.Errorf("no %s leads", component)
}
