package local

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/schedulerconfig"
)

// round is a set of components that change together: those of one control plane, or one kind of component on it.
type round struct {
	plane   int
	changed []want
	// down: the round goes to an older version.
	down bool
}

// roller brings the components to a state, one control plane after the other.
type roller struct {
	*programs
	schedulers
	leaders
}

// rounds are the steps to the state: upward from the first control plane to the last (or from the first API server to
// the last scheduler), downward in reverse.
func (c *roller) rounds(state clusters.State, bin programsOf, apiServersFirst bool) ([]round, error) {
	var all []round
	down := false
	for plane := range c.layout.planes() {
		changed, err := c.changes(state, plane, bin)
		if err != nil {
			return nil, err
		}
		if len(changed) == 0 {
			continue
		}
		r := round{plane, changed, c.goesDown(state, plane)}
		down = down || r.down
		all = append(all, r)
	}
	if apiServersFirst {
		all = byComponent(all)
	}
	if down {
		slices.Reverse(all)
	}
	return all, nil
}

// byComponent splits rounds: one for each kind of component on each control plane.
func byComponent(rounds []round) []round {
	var all []round
	for _, kind := range clusters.ControlPlane() {
		for _, r := range rounds {
			part := round{plane: r.plane, down: r.down}
			for _, w := range r.changed {
				if w.component.Binary() == kind {
					part.changed = append(part.changed, w)
				}
			}
			if len(part.changed) > 0 {
				all = append(all, part)
			}
		}
	}
	return all
}

// hold drops the rounds after the place where the transition ends, and records the control planes whose API servers
// were among them.
func (c *roller) hold(rounds []round, roll clusters.Roll) []round {
	var behind []int
	if roll.UpTo > 0 {
		n := min(max(roll.UpTo-roll.Most(c.layout.planes())+len(rounds), 0), len(rounds))
		for _, r := range rounds[n:] {
			if slices.ContainsFunc(r.changed, func(w want) bool { return isAPIServer(w.component) }) || !roll.APIServersFirst {
				behind = append(behind, r.plane)
			}
		}
		rounds = rounds[:n]
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.record.Behind = behind
	return rounds
}

// oldest returns the oldest of the given version and the versions of the running API servers.
func (c *Cluster) oldest(version string) string {
	for _, s := range c.Servers() {
		one, err1 := clusters.ParseVersion(s.Version)
		other, err2 := clusters.ParseVersion(version)
		if err1 == nil && err2 == nil && one.Compare(other) < 0 {
			version = s.Version
		}
	}
	return version
}

// changes are the components of a control plane that do not run as the state says.
func (c *roller) changes(state clusters.State, plane int, bin programsOf) ([]want, error) {
	all, err := layout{c.layout.Dir, c.ports()}.wants(state, plane, bin)
	return slices.DeleteFunc(all, c.runs), err
}

// wants are the components of a control plane as the state says.
func (l layout) wants(state clusters.State, plane int, bin programsOf) (all []want, err error) {
	for _, component := range l.onPlane(state, plane) {
		w := want{component: component}
		if w.started, err = bin.start(state, component, l); err != nil {
			return nil, err
		}
		if component.Binary() == clusters.Scheduler {
			w.Config, err = schedulerconfig.File(component, l.kubeconfigOf(component), false,
				schedulerProfiles(state, component))
			if err != nil {
				return nil, err
			}
		}
		all = append(all, w)
	}
	return all, nil
}

// goesDown reports whether the state's version is older than that of the last API server that was started, even by a
// failed transition.
func (c *roller) goesDown(state clusters.State, plane int) bool {
	c.mu.Lock()
	before := c.record.Processes[string(c.layout.instance(clusters.APIServer, plane))].Version
	c.mu.Unlock()
	from, err1 := clusters.ParseVersion(before)
	to, err2 := clusters.ParseVersion(state.Version)
	return err1 == nil && err2 == nil && to.Compare(from) < 0
}

// rollAll runs the rounds one after the other, and proves each before the next; all at once if no API server runs.
func (c *roller) rollAll(ctx context.Context, state clusters.State, rounds []round) error {
	if c.oneOf(clusters.APIServer) == "" && len(rounds) > 0 {
		rounds = []round{together(rounds)}
	}
	for _, r := range rounds {
		if err := c.rollAndProve(ctx, state, r); err != nil {
			return err
		}
	}
	return nil
}

// rollAndProve runs one round.
func (c *roller) rollAndProve(ctx context.Context, state clusters.State, r round) error {
	change := func() error {
		if err := c.roll(ctx, r); err != nil {
			return err
		}
		return c.prove(ctx, state, r.changed)
	}
	if slices.ContainsFunc(r.changed, func(w want) bool { return isAPIServer(w.component) }) {
		return c.restartServers(ctx, change)
	}
	if err := change(); err != nil {
		return err
	}
	return c.revive(ctx)
}

// together merges rounds into one: after the first control plane, the API servers of the others start first, since they
// take longest.
func together(rounds []round) round {
	all := rounds[0]
	var servers, others []want
	for _, r := range rounds[1:] {
		all.down = all.down || r.down
		for _, w := range r.changed {
			if isAPIServer(w.component) {
				servers = append(servers, w)
			} else {
				others = append(others, w)
			}
		}
	}
	all.changed = slices.Concat(all.changed, servers, others)
	return all
}

// roll restarts components: upward kube-apiserver first, downward last, so that no component ever talks to an API
// server older than itself. They become ready at the same time; otherwise a transition would take the sum of all
// starts.
func (c *roller) roll(ctx context.Context, r round) error {
	if r.down {
		slices.Reverse(r.changed)
	}
	if err := c.stopSchedulers(ctx, r.changed); err != nil {
		return err
	}
	ready, starting := errgroup.WithContext(ctx)
	for i, w := range r.changed {
		if err := c.mayStart(starting, r, i); err != nil {
			// Others that waited for it report the same error with more context.
			return cmp.Or(ready.Wait(), err)
		}
		if err := c.writeConfig(w); err != nil {
			return errors.Join(err, ready.Wait())
		}
		err := c.handOver(starting, w.component, func() error {
			return c.replace(starting, string(w.component), w.started)
		})
		if err != nil {
			return errors.Join(err, ready.Wait())
		}
		ready.Go(func() error { return c.readyOrAgain(starting, w.component) })
	}
	return ready.Wait()
}

// mayStart waits, upward, until the API servers of the round that have started listen: other components exit if theirs
// does not. A further API server waits until the first one has created its own Service, as kubeadm does. If two create
// its address at the same time, the one that fails exits after a minute (repairip.go: "already exists").
func (c *roller) mayStart(ctx context.Context, r round, i int) error {
	if r.down {
		return nil
	}
	for _, w := range r.changed[:i] {
		if !isAPIServer(w.component) {
			continue
		}
		if isAPIServer(r.changed[i].component) {
			return c.serves(ctx, w.component)
		}
		if err := c.listening(ctx, w.component); err != nil {
			return err
		}
	}
	return nil
}
