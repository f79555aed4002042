package creation

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/clusters/kind/nodeimage"
)

// routeScript gives a node the route to another node's pods.
const routeScript = `ip route replace "$1" via "$2"`

// connectPods gives each node with an image that was built here the addresses of its pods and the routes to the pods
// of the other nodes. The kind project's images have a daemon for that. A cluster of one node has them already.
func (c *Creator) connectPods(ctx context.Context) error {
	if len(c.Nodes) == 1 {
		return nil
	}
	template, err := c.ControlPlane().Read(ctx, nodeimage.NetworkFile)
	if err != nil || template == "" {
		return err
	}
	var list *corev1.NodeList
	err = c.Await(ctx, "the addresses of the nodes' pods", func(ctx context.Context) error {
		if list, err = c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{}); err != nil {
			return err
		}
		if len(list.Items) < len(c.Nodes) {
			return fmt.Errorf("%d of %d nodes have joined", len(list.Items), len(c.Nodes))
		}
		for _, n := range list.Items {
			if n.Spec.PodCIDR == "" || internalAddress(n) == "" {
				return fmt.Errorf("%s has none yet", n.Name)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, n := range c.Nodes {
		for _, other := range list.Items {
			if other.Name != n.NodeName {
				if _, err := n.Shell(ctx, routeScript, other.Spec.PodCIDR, internalAddress(other)); err != nil {
					return fmt.Errorf("give node %s the way to the pods of %s: %w", n.Name, other.Name, err)
				}
				continue
			}
			network := strings.ReplaceAll(template, nodeimage.NetworkSubnet, other.Spec.PodCIDR)
			// Not by a rename: containerd reads the folder again only after a write.
			if _, err := n.Shell(ctx, `printf %s "$1" > /etc/cni/net.d/10-rehearse.conflist`, network); err != nil {
				return fmt.Errorf("give node %s its pods' network: %w", n.Name, err)
			}
		}
	}
	return nil
}

func internalAddress(n corev1.Node) string {
	for _, address := range n.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			return address.Address
		}
	}
	return ""
}
