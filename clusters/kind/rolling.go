package kind

import (
	"context"

	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
)

var _ clusters.Rolling = (*Cluster)(nil)

// Roll is Converge in a given order, and up to a given place.
func (c *Cluster) Roll(ctx context.Context, state clusters.State, roll clusters.Roll) error {
	by, err := c.converger(ctx, state)
	if err != nil {
		return err
	}
	return by.Roll(ctx, state, roll)
}

// Servers returns the API servers of the control planes, without killed ones.
func (c *Cluster) Servers() []clusters.Server {
	if c.live == nil {
		return nil
	}
	var all []clusters.Server
	for plane, n := range c.live.ControlPlanes() {
		if c.record.IsDown(plane) {
			continue
		}
		server := c.live.Server(n)
		version, behind := c.record.Server(plane)
		all = append(all, clusters.Server{
			Plane: plane, Version: version, Behind: behind,
			REST: rest.CopyConfig(server.REST), Kubeconfig: server.Kubeconfig,
		})
	}
	return all
}
