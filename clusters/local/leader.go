package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// elected reports whether the processes of a component elect a leader.
func (l layout) elected(c clusters.Component) bool {
	return l.several() && (c == clusters.ControllerManager || c == clusters.Scheduler)
}

// leaders finds the leader of several processes of a component.
type leaders struct {
	*programs
	client kubernetes.Interface
}

// speaker is the process that represents a component: the leader, or the first of several API servers.
func (c *leaders) speaker(ctx context.Context, component clusters.Component) (clusters.Component, error) {
	instances := c.layout.instances(component)
	if !c.layout.elected(component) {
		return instances[0], nil
	}
	var errs []error
	for _, instance := range instances {
		leads, err := c.leads(ctx, instance)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if leads {
			return instance, nil
		}
	}
	return "", errors.Join(append([]error{fmt.Errorf("read metrics of %s: %w", component, errNobodyLeads)}, errs...)...)
}

// leads asks a process whether it leads.
func (c *leaders) leads(ctx context.Context, instance clusters.Component) (bool, error) {
	data, err := c.metrics(ctx, instance)
	if err != nil {
		return false, err
	}
	name := string(instance.Binary())
	return bytes.Contains(data, []byte("leader_election_master_status{name=\""+name+"\"} 1\n")), nil
}

// handOver replaces a process. If it leads, the others take over at once. They would otherwise wait until its lease
// expires, since neither kube-controller-manager nor kube-scheduler releases it on exit.
func (c *leaders) handOver(ctx context.Context, instance clusters.Component, replace func() error) error {
	holder := c.holds(ctx, instance)
	if err := replace(); err != nil || holder == "" {
		return err
	}
	// A lease that is not released, or that another process already holds, only costs time.
	lease, err := c.lease(ctx, instance)
	if err != nil || ptr.Deref(lease.Spec.HolderIdentity, "") != holder {
		return nil
	}
	// The values that client-go writes when it releases a lease.
	now := metav1.NowMicro()
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds = new(string), ptr.To(int32(1))
	lease.Spec.AcquireTime, lease.Spec.RenewTime = &now, &now
	_, _ = c.client.CoordinationV1().Leases(lease.Namespace).Update(ctx, lease, metav1.UpdateOptions{})
	return nil
}

// holds returns the identity under which a process holds the lease of its component; "" if it does not lead, or does
// not answer.
func (c *leaders) holds(ctx context.Context, instance clusters.Component) string {
	if !c.layout.elected(instance.Binary()) || c.process(string(instance)) == nil {
		return ""
	}
	if leads, err := c.leads(ctx, instance); err != nil || !leads {
		return ""
	}
	lease, err := c.lease(ctx, instance)
	if err != nil {
		return ""
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// lease reads the lease of a component's leader.
func (c *leaders) lease(ctx context.Context, component clusters.Component) (*coordinationv1.Lease, error) {
	name := string(component.Binary())
	return c.client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, name, metav1.GetOptions{})
}

// led waits until one of several schedulers, and one of several controller managers, leads and runs. After a leader
// exits, the others take over only when its lease has expired; until then nothing would be scheduled or controlled.
func (c *leaders) led(ctx context.Context, state clusters.State) error {
	if c.oneOf(clusters.APIServer) == "" {
		return nil
	}
	for _, component := range clusters.ControlPlane() {
		if !c.layout.elected(component) || state.Flags(component)["leader-elect"] == "false" || c.oneOf(component) == "" {
			continue
		}
		since := c.lastEnd(component)
		err := c.await(ctx, balancerProcess, func(ctx context.Context) (bool, error) {
			if renewed, err := c.renewed(ctx, component, since); err != nil || !renewed {
				return false, err
			}
			// The leader itself learns of it a moment later.
			_, err := c.speaker(ctx, component)
			return err == nil, err
		})
		var broken *clusters.BrokenError
		if errors.As(err, &broken) {
			broken.Component = component
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lastEnd returns the last time at which a process of a component, or an API server, ended. A process that renewed
// the lease later still runs, and reaches its API server.
func (c *leaders) lastEnd(component clusters.Component) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.opened
	for _, l := range c.lives {
		if l.Component.Binary() != component && !isAPIServer(l.Component) {
			continue
		}
		ended := l.Ended
		select {
		case <-l.process.Done():
			if ended.IsZero() { // it is about to be recorded
				ended = c.provider.Now()
			}
		default:
		}
		if ended.After(last) {
			last = ended
		}
	}
	return last
}

// renewed reports whether a component has a leader that renewed its lease after a time.
func (c *leaders) renewed(ctx context.Context, component clusters.Component, since time.Time) (bool, error) {
	lease, err := c.lease(ctx, component)
	if err != nil {
		return false, fmt.Errorf("read the lease of %s: %w", component, err)
	}
	renewed := lease.Spec.RenewTime
	if renewed == nil || !renewed.After(since) || ptr.Deref(lease.Spec.HolderIdentity, "") == "" {
		return false, fmt.Errorf("the lease of %s may belong to a process that has ended", component)
	}
	return true, nil
}

// leaseLines is how many log lines are searched for the loss of a lease. The controllers that end after it log dozens
// of lines: kube-controller-manager 1.36 about 50.
const leaseLines = 1000

// lostLease reports whether a process exited because it could not renew its lease in time, as on a busy machine.
// Kubelet would restart it, and so does this package.
func lostLease(process *processes.Process) bool {
	component, plane := clusters.Component(process.Name).Plane()
	return plane >= 0 && component != clusters.APIServer &&
		strings.Contains(strings.ToLower(processes.LastLines(process.LogFile, leaseLines)), "leaderelection lost")
}

// comesBack restarts a process that lost its lease, and reports whether its component is well again. It is also well if
// somebody else has replaced or killed the process meanwhile.
func comesBack(c *programs, process *processes.Process) bool {
	next, err := c.resume(process)
	if err != nil || next == nil {
		return err == nil
	}
	err = c.ready(context.Background(), clusters.Component(process.Name))
	// If the new one has ended, that is reported separately.
	return err == nil || hasEnded(next) || c.process(process.Name) != next
}

// oneOf is a running process of a component; "" for none.
func (c *leaders) oneOf(component clusters.Component) clusters.Component {
	for _, instance := range c.layout.instances(component) {
		if c.process(string(instance)) != nil {
			return instance
		}
	}
	return ""
}
