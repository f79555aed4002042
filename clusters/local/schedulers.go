package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/ports"
)

// ports returns the current ports. They change when additional kube-schedulers are added or removed.
func (c *programs) ports() listening {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.record.Ports
}

// schedulers are the additional kube-schedulers of a cluster.
type schedulers struct {
	*programs
	// held reserves the port of each of them.
	held map[clusters.Component]*ports.Reservation
}

// placeSchedulers reserves a port for each additional kube-scheduler of the state that has none yet.
func (c *schedulers) placeSchedulers(state clusters.State) error {
	for _, scheduler := range state.Schedulers {
		component := scheduler.Component()
		if c.ports().of(component) != 0 {
			continue
		}
		held, err := ports.Reserve("127.0.0.1", 1)
		if err != nil {
			return fmt.Errorf("find a port for %s: %w", component, err)
		}
		c.mu.Lock()
		c.held[component] = held
		c.record.Ports = c.record.Ports.with(component, held.Numbers[0])
		c.mu.Unlock()
	}
	return nil
}

// with returns the ports and one more. It does not change the receiver, because other goroutines may be reading it.
func (l listening) with(c clusters.Component, port int) listening {
	l.Schedulers = maps.Clone(l.Schedulers)
	if l.Schedulers == nil {
		l.Schedulers = map[clusters.Component]int{}
	}
	l.Schedulers[c] = port
	return l
}

// endSchedulers ends the additional kube-schedulers that the state no longer contains. It removes their files, but
// keeps the logs.
func (c *schedulers) endSchedulers(ctx context.Context, state clusters.State) error {
	wanted := state.ControlPlane()
	for component := range c.ports().Schedulers {
		if slices.Contains(wanted, component) {
			continue
		}
		if err := c.stop(ctx, string(component)); err != nil {
			return err
		}
		if err := os.Remove(c.layout.schedulerConfig(component)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove the configuration of %s: %w", component, err)
		}
		c.forgetScheduler(component)
	}
	return nil
}

func (c *schedulers) forgetScheduler(component clusters.Component) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if held := c.held[component]; held != nil {
		held.Release()
	}
	delete(c.held, component)
	delete(c.record.Processes, string(component))
	left := maps.Clone(c.record.Ports.Schedulers)
	delete(left, component)
	c.record.Ports.Schedulers = left
}

// releaseSchedulers releases the ports of all additional kube-schedulers.
func (c *schedulers) releaseSchedulers() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, held := range c.held {
		held.Release()
	}
}

// stopSchedulers stops the kube-schedulers that will be restarted, if there are at least two. A scheduler name may move
// from one to the other, and two processes must never serve the same name.
func (c *schedulers) stopSchedulers(ctx context.Context, changed []want) error {
	var schedulers []string
	for _, w := range changed {
		if w.component.Binary() == clusters.Scheduler {
			schedulers = append(schedulers, string(w.component))
		}
	}
	if len(schedulers) < 2 {
		return nil
	}
	for _, name := range schedulers {
		if err := c.stop(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// schedulerProfiles are the profiles that the state has for one of its kube-schedulers.
func schedulerProfiles(state clusters.State, component clusters.Component) []map[string]any {
	for _, scheduler := range state.Schedulers {
		if scheduler.Component() == component {
			return scheduler.AllProfiles()
		}
	}
	return state.SchedulerProfiles
}
