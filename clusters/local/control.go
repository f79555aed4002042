package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// drainTime is the limit for shutting down one of several API servers.
const drainTime = 600 * time.Millisecond

// replace ends the process of that name, if any, and restarts it. One of several API servers starts while its
// predecessor is shutting down: on the same port, because a client that asks for this server has no other.
func (c *programs) replace(ctx context.Context, name string, s started) error {
	defer c.changing.Lock(name)()
	old := c.process(name)
	if old == nil {
		return c.start(name, s)
	}
	if c.layout.several() && isAPIServer(clusters.Component(name)) {
		if err := c.layout.leaving().Add(loopback(c.layout.Ports.of(clusters.Component(name)))); err != nil {
			return err
		}
	}
	c.mu.Lock()
	before := c.record.Processes[name]
	c.mu.Unlock()
	if !overlaps(before, s) {
		if err := end(ctx, clusters.Component(name), old); err != nil {
			return err
		}
		c.forget(name)
		return c.start(name, s)
	}
	gone := c.predecessors.Begin(name, func() error { return end(ctx, clusters.Component(name), old) })
	if err := c.start(name, s); err != nil {
		c.forget(name)
		return errors.Join(err, gone())
	}
	return nil
}

// overlaps reports whether both the running process and its successor share their port.
func overlaps(now, next started) bool {
	const sharing = "--permit-port-sharing=true"
	return slices.Contains(now.Args, sharing) && slices.Contains(next.Args, sharing)
}

// end ends a process that will be replaced. One of several API servers is shut down gracefully, as kubelet does it. A
// single one is killed, because nothing could take over; so is any other component, because it releases no lease.
func end(ctx context.Context, component clusters.Component, process *processes.Process) error {
	if _, plane := component.Plane(); plane >= 0 && isAPIServer(component) {
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
		if c.process(string(instance)) == nil {
			continue
		}
		if err := c.stop(ctx, string(instance)); err != nil {
			return err
		}
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
	cycle := func() error {
		group, starting := errgroup.WithContext(ctx)
		for _, instance := range down {
			group.Go(func() error { return c.again(starting, string(instance)) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
		return c.inTurn(ctx, running)
	}
	if !isAPIServer(component) {
		if err := cycle(); err != nil {
			return err
		}
		return c.led(ctx, c.State())
	}
	if err := c.restartServers(ctx, cycle); err != nil {
		return err
	}
	if err := c.renewClients(ctx); err != nil {
		return err
	}
	if err := c.led(ctx, c.State()); err != nil {
		return err
	}
	return c.allRun()
}

// restartServers restarts API servers. A component that ends meanwhile is started again. A later end is reported.
func (c *roller) restartServers(ctx context.Context, restart func() error) error {
	err := func() error {
		c.away.Add(1)
		defer c.away.Add(-1)
		if err := restart(); err != nil {
			return err
		}
		return c.revive(ctx)
	}()
	if err != nil {
		return err
	}
	return c.revive(ctx) // what has ended since, while nobody reported it
}

// inTurn restarts processes one after the other. A leader hands over to another one.
func (c *roller) inTurn(ctx context.Context, instances []clusters.Component) error {
	for _, instance := range instances {
		err := c.handOver(ctx, instance, func() error { return c.again(ctx, string(instance)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// resume restarts a process that has ended, with unchanged arguments, and returns the new one. It returns nil if there
// is nothing to do: the process has been replaced, killed or resumed meanwhile.
func (c *programs) resume(ended *processes.Process) (*processes.Process, error) {
	name := ended.Name
	defer c.changing.Lock(name)()
	if c.process(name) != ended {
		return nil, nil
	}
	c.mu.Lock()
	s := c.record.Processes[name]
	c.mu.Unlock()
	if err := c.start(name, s); err != nil {
		return nil, err
	}
	return c.process(name), nil
}

// keepUp starts a process of that name unless one runs.
func keepUp(c *programs, name string, s started) error {
	process := c.process(name)
	if process == nil {
		return c.start(name, s)
	}
	if !hasEnded(process) {
		return nil
	}
	_, err := c.resume(process)
	return err
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
