package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/clusters"
)

// elected says whether of a component's processes one leads.
func (l layout) elected(c clusters.Component) bool {
	return l.several() && (c == clusters.ControllerManager || c == clusters.Scheduler)
}

// speaker is the process that speaks for a component: the one that leads, and the first one of several API servers.
func (c *Cluster) speaker(ctx context.Context, component clusters.Component) (clusters.Component, error) {
	instances := c.layout.instances(component)
	if !c.layout.elected(component) {
		return instances[0], nil
	}
	var errs []error
	for _, instance := range instances {
		data, err := c.metrics(ctx, instance)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if bytes.Contains(data, []byte("leader_election_master_status{name=\""+string(component)+"\"} 1\n")) {
			return instance, nil
		}
	}
	return "", errors.Join(append([]error{fmt.Errorf("read metrics of %s: %w", component, errNobodyLeads)}, errs...)...)
}

// led waits until of several schedulers, and of several controller managers, one leads that lives. The others take over
// from one that ended only when its lease has run out, and until then nothing would be scheduled or controlled.
func (c *Cluster) led(ctx context.Context, state clusters.State) error {
	if c.killed.Load() {
		return nil
	}
	for _, component := range clusters.ControlPlane() {
		one := c.oneOf(component)
		if !c.layout.elected(component) || state.Components[component].Flags["leader-elect"] == "false" || one == "" {
			continue
		}
		since := time.Now()
		err := c.await(ctx, one, func(ctx context.Context) (bool, error) {
			lease, err := c.client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, string(component),
				metav1.GetOptions{})
			if err != nil {
				return false, fmt.Errorf("read the lease of %s: %w", component, err)
			}
			if renewed := lease.Spec.RenewTime; renewed == nil || !renewed.After(since) {
				return false, fmt.Errorf("the lease of %s may be that of one that has ended", component)
			}
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// oneOf is one process of a component that runs; "" for none.
func (c *Cluster) oneOf(component clusters.Component) clusters.Component {
	for _, instance := range c.layout.instances(component) {
		if c.process(string(instance)) != nil {
			return instance
		}
	}
	return ""
}
