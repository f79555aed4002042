package live

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/staticpods"
)

// Led waits until one of several schedulers, and one of several controller managers, is a leader that runs. If the
// leader was killed, the others take over only when its lease has expired. Until then nothing is scheduled or
// controlled. A scenario may have killed all of them: then nothing leads.
func (c *Cluster) Led(ctx context.Context, state clusters.State) error {
	for _, component := range clusters.ControlPlane() {
		if !settings.Elected(component) || len(c.ControlPlanes()) == 1 ||
			state.Components[component].Flags["leader-elect"] == "false" {
			continue
		}
		runs, err := c.runs(ctx, component)
		if err != nil {
			return err
		}
		if !runs {
			continue
		}
		var before *metav1.MicroTime // the clocks of this machine and of the nodes may differ
		err = c.Await(ctx, "a leader among those of "+string(component), func(ctx context.Context) error {
			lease, err := c.Client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, string(component),
				metav1.GetOptions{})
			if err != nil {
				return err
			}
			now := lease.Spec.RenewTime
			if before == nil || now == nil || now.Equal(before) {
				before = now
				return errors.New("the holder of the lease may have stopped")
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// runs reports whether a component was left running on any control plane. That of a killed one has its manifest
// elsewhere.
func (c *Cluster) runs(ctx context.Context, component clusters.Component) (bool, error) {
	for _, n := range c.ControlPlanes() {
		text, err := n.Read(ctx, staticpods.ManifestsFolder+"/"+string(component)+".yaml")
		if err != nil || text != "" {
			return text != "", err
		}
	}
	return false, nil
}

// leader returns the node whose component leads; the first control plane for components without leader election.
func (c *Cluster) leader(ctx context.Context, component clusters.Component) (nodes.Node, error) {
	planes := c.ControlPlanes()
	if !settings.Elected(component) || len(planes) == 1 {
		return planes[0], nil
	}
	lease, err := c.Client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, string(component), metav1.GetOptions{})
	if err != nil {
		return nodes.Node{}, fmt.Errorf("ask which %s leads: %w", component, err)
	}
	if lease.Spec.HolderIdentity != nil {
		host, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
		for _, n := range planes {
			if n.NodeName == host {
				return n, nil
			}
		}
	}
	return nodes.Node{}, fmt.Errorf("no %s leads", component)
}
