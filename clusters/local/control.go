package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// drainDelay is how long one of several API servers that is shutting down still serves while it reports that it is not
// ready, so that the balancer notices. drainTime is the limit for shutting down.
const (
	drainDelay = 300 * time.Millisecond
	drainTime  = 800 * time.Millisecond
)

// end ends a process that will be replaced. One of several is shut down gracefully, as kubelet does it. A single one is
// killed: nothing could take over, so waiting gains nothing.
func end(ctx context.Context, component clusters.Component, process *processes.Process) error {
	if _, plane := component.Plane(); plane >= 0 {
		return process.Stop(ctx, drainTime)
	}
	return process.Kill(ctx)
}

// Kill ends a component without warning: on all control planes unless it names one.
func (c *Cluster) Kill(ctx context.Context, component clusters.Component) error {
	killed := 0
	for _, instance := range c.layout.instances(component) {
		if _, err := c.componentURL(instance); err != nil {
			return err
		}
		process := c.process(string(instance))
		if process == nil {
			continue
		}
		if err := process.Kill(ctx); err != nil {
			return err
		}
		c.forget(string(instance))
		killed++
	}
	if killed == 0 {
		return fmt.Errorf("kill %s: it is not running", component)
	}
	return nil
}

// Restart stops a component and starts it unchanged. Several control planes are restarted one after the other, or all
// at once if they were killed.
func (c *Cluster) Restart(ctx context.Context, component clusters.Component) error {
	var down, running []clusters.Component
	for _, instance := range c.layout.instances(component) {
		if _, err := c.componentURL(instance); err != nil {
			return err
		}
		if c.process(string(instance)) == nil {
			down = append(down, instance)
		} else {
			running = append(running, instance)
		}
	}
	if isAPIServer(component) {
		c.away.Add(1)
		defer c.away.Add(-1)
	}
	group, starting := errgroup.WithContext(ctx)
	for _, instance := range down {
		group.Go(func() error { return c.restartOne(starting, instance) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, instance := range running {
		err := c.handOver(ctx, instance, func() error { return c.restartOne(ctx, instance) })
		if err != nil {
			return err
		}
	}
	if isAPIServer(component) {
		if err := c.revive(ctx); err != nil {
			return err
		}
	}
	return c.led(ctx, c.State())
}

func (c *programs) restartOne(ctx context.Context, component clusters.Component) error {
	c.mu.Lock()
	s, known := c.record.Processes[string(component)]
	c.mu.Unlock()
	if !known {
		return fmt.Errorf("restart %s: it never ran", component)
	}
	if err := c.replace(ctx, string(component), s); err != nil {
		return err
	}
	return c.ready(ctx, component)
}

// metrics reads the metrics of one process.
func (c *programs) metrics(ctx context.Context, component clusters.Component) ([]byte, error) {
	url, err := c.componentURL(component)
	if err != nil {
		return nil, err
	}
	return c.get(ctx, component, url+"/metrics")
}

// errNobodyLeads: none of several schedulers or controller managers leads at the moment.
var errNobodyLeads = errors.New("none of them leads at the moment")
