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

// drainDelay is how long one of several API servers that is asked to end goes on to serve while it says that it is not
// ready: time for the balancer to see it. drainTime is how long it may take to end.
const (
	drainDelay = 300 * time.Millisecond
	drainTime  = 800 * time.Millisecond
)

// end ends a process that is to be replaced. One of several is asked to, as kubelet does it, and ends what it is at;
// for a single one nobody would take over, and time is all that there is to gain.
func end(ctx context.Context, component clusters.Component, process *processes.Process) error {
	if _, plane := component.Plane(); plane >= 0 {
		return process.Stop(ctx, drainTime)
	}
	return process.Kill(ctx)
}

// Kill ends a component without warning: on all control planes where it names none.
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

// Restart stops a component and starts it as it was. Of several control planes one is restarted after the other, or all
// at once where it was killed.
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

// metrics reads those of one process.
func (c *programs) metrics(ctx context.Context, component clusters.Component) ([]byte, error) {
	url, err := c.componentURL(component)
	if err != nil {
		return nil, err
	}
	return c.get(ctx, component, url+"/metrics")
}

// errNobodyLeads is of several schedulers, or controller managers, of which none leads at the moment.
var errNobodyLeads = errors.New("none of them leads at the moment")
