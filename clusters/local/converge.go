package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/clusters/proof"
)

// want is the desired process of a component.
type want struct {
	component clusters.Component
	started
}

// Converge brings the cluster to a state: changed components are restarted, in the order of the version skew policy.
func (c *Cluster) Converge(ctx context.Context, state clusters.State) error {
	return c.Roll(ctx, state, clusters.Roll{})
}

// Roll is Converge in a given order, and as far as roll says.
func (c *Cluster) Roll(ctx context.Context, state clusters.State, roll clusters.Roll) error {
	if err := c.converge(ctx, state, roll); err != nil {
		return fmt.Errorf("bring cluster %s to %s: %w", c.Name(), state, err)
	}
	c.mu.Lock()
	c.record.State = state
	c.mu.Unlock()
	return c.save()
}

func (c *Cluster) converge(ctx context.Context, state clusters.State, roll clusters.Roll) error {
	if c.etcdProbe == nil {
		return fmt.Errorf("it was created by an older rehearse, whose etcd does not use certificates: delete it " +
			"and create it again")
	}
	bin, err := c.provider.programs(ctx, state)
	if err != nil {
		return err
	}
	// Remove first: a schedulerName may move to another one.
	if err := c.endSchedulers(ctx, state); err != nil {
		return err
	}
	if err := c.placeSchedulers(state); err != nil {
		return err
	}
	rounds, err := c.rounds(state, bin, roll.APIServersFirst)
	if err != nil {
		return err
	}
	if err := c.storageRuns(ctx); err != nil {
		return err
	}
	before := c.APIServers()
	if err := c.rollAll(ctx, state, c.hold(rounds, roll)); err != nil {
		return err
	}
	if err := c.proveOthers(ctx, state, bin); err != nil {
		return err
	}
	if err := c.usable(ctx); err != nil {
		return err
	}
	if err := c.led(ctx, state); err != nil {
		return err
	}
	if !maps.Equal(before, c.APIServers()) {
		if err := c.renewClients(ctx); err != nil {
			return err
		}
	}
	// A node's kubelet may not be newer than an API server.
	state.Version = c.oldest(state.Version)
	if err := c.convergeNodes(ctx, state); err != nil {
		return err
	}
	if err := reviveOthers(ctx, c.programs); err != nil {
		return err
	}
	return c.allRun()
}

// storageRuns starts etcd and the balancer if they were killed, or did not outlive the command that started them: each
// API server needs both.
func (c *roller) storageRuns(ctx context.Context) error {
	if c.process(balancerProcess) == nil {
		if err := c.startBalancer(ctx); err != nil {
			return err
		}
	}
	if c.process(etcdProcess) == nil {
		return c.again(ctx, etcdProcess)
	}
	return nil
}

// allRun returns an error if a component has ended meanwhile. One that ended because its API server was killed is
// restarted with it.
func (c *roller) allRun() error {
	var errs []error
	for _, component := range c.components() {
		process := c.process(string(component))
		if endedByItself(process) && !lostLease(process) && !lacksAPIServer(c.programs, component) {
			errs = append(errs, brokenBy(component, process, process.Failure()))
		}
	}
	return errors.Join(errs...)
}

// runs reports whether a component runs as desired.
func (c *roller) runs(w want) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	process, s := c.running[string(w.component)], c.record.Processes[string(w.component)]
	same := s.Program == w.Program && s.Version == w.Version && s.Build == w.Build && s.Config == w.Config &&
		slices.Equal(s.Args, w.Args)
	return process != nil && same && !hasEnded(process)
}

// readyOrAgain waits until a component is ready. If it exited because the API server was down or being replaced, it is
// restarted once, when the API server is there; an error of the component itself makes it exit again. While the API
// server is not ready, the API server is the cause.
func (c *roller) readyOrAgain(ctx context.Context, component clusters.Component) error {
	process := c.process(string(component))
	err := c.ready(ctx, component)
	if err == nil || isAPIServer(component) || ctx.Err() != nil {
		return err
	}
	if waitErr := c.ready(ctx, c.layout.apiServerOf(component)); waitErr != nil {
		return fmt.Errorf("%w\n(%s waits for it: %v)", waitErr, component,
			err) //nolint:errorlint // the waiting component is not the cause
	}
	if !hasEnded(process) {
		return err
	}
	return c.reviveOne(ctx, process)
}

// revive restarts those components that exited while the API server was down. kube-controller-manager does so if it has
// not finished its own start.
func (c *roller) revive(ctx context.Context) error {
	for _, component := range c.components() {
		process := c.process(string(component))
		if !isAPIServer(component) && endedByItself(process) && !lacksAPIServer(c.programs, component) &&
			!c.ended(c.layout.apiServerOf(component)) {
			if err := c.reviveOne(ctx, process); err != nil {
				return err
			}
		}
	}
	return reviveOthers(ctx, c.programs)
}

// reviveOthers restarts the node simulation and the DNS server if they exited while an API server was down. Nobody
// reports that.
func reviveOthers(ctx context.Context, c *programs) error {
	for _, name := range []string{nodesProcess, dnsProcess} {
		process := c.process(name)
		if !endedByItself(process) || lacksAPIServer(c, clusters.Component(name)) {
			continue
		}
		if _, err := c.resume(process); err != nil {
			return err
		}
		if name == dnsProcess {
			if err := answersDNS(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// reviveOne restarts a process that has ended, unless it runs again already. It returns when the component is ready.
func (c *roller) reviveOne(ctx context.Context, ended *processes.Process) error {
	if _, err := c.resume(ended); err != nil {
		return err
	}
	return c.ready(ctx, clusters.Component(ended.Name))
}

// ended reports whether a component that should run has exited unexpectedly.
func (c *programs) ended(component clusters.Component) bool {
	return endedByItself(c.process(string(component)))
}

// endedByItself reports whether a process has exited unexpectedly. The process may be nil.
func endedByItself(process *processes.Process) bool { return hasEnded(process) && !process.Expected() }

// hasEnded reports whether a process has exited. The process may be nil.
func hasEnded(process *processes.Process) bool {
	if process == nil {
		return false
	}
	select {
	case <-process.Done():
		return true
	default:
		return false
	}
}

// prove checks by the metrics of components that they run the desired version and gates.
func (c *roller) prove(ctx context.Context, state clusters.State, all []want) error {
	var errs []error
	for _, w := range all {
		errs = append(errs, c.proveOne(ctx, state, w.component))
	}
	return errors.Join(errs...)
}

func (c *roller) proveOne(ctx context.Context, state clusters.State, instance clusters.Component) error {
	process := c.process(string(instance))
	data, err := c.metrics(ctx, instance)
	if err != nil && !isAPIServer(instance) {
		// On a busy machine it may have ended since it was ready: it lost its lease, or no longer waited for its API
		// server, which was slow to start.
		if err = c.readyOrAgain(ctx, instance); err == nil {
			process = c.process(string(instance))
			data, err = c.metrics(ctx, instance)
		}
	}
	if err != nil {
		return fmt.Errorf("read what %s runs: %w", instance, err)
	}
	component, _ := instance.Plane()
	err1 := proof.Component(data, state.VersionOf(component), state.Gates(component))
	err2 := proof.Emulation(data, state)
	if overridesEmulation(state.Components[component].Flags) {
		err2 = nil
	}
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("%s: %w", instance, err)
	}
	c.proven.add(process)
	return nil
}

// proveOthers checks the components that already ran as desired. An earlier transition may have started them, and
// ended before they were ready or proven.
func (c *roller) proveOthers(ctx context.Context, state clusters.State, bin programsOf) error {
	var others []want
	for plane := range c.layout.planes() {
		all, err := layout{c.layout.Dir, c.ports()}.wants(state, plane, bin)
		if err != nil {
			return err
		}
		for _, w := range all {
			if c.runs(w) && !c.proven.has(c.process(string(w.component))) && !lacksAPIServer(c.programs, w.component) {
				others = append(others, w)
			}
		}
	}
	for _, w := range others {
		if err := c.readyOrAgain(ctx, w.component); err != nil {
			return err
		}
	}
	return c.prove(ctx, state, others)
}

// overridesEmulation reports whether a component's own flags set what it emulates.
func overridesEmulation(flags map[string]string) bool {
	return flags["emulated-version"] != "" || flags["min-compatibility-version"] != ""
}
