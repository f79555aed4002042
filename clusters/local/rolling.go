package local

import (
	"context"
	"errors"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/clusters"
)

// round is what changes at a time: what one control plane has to start anew, or one kind of component on it.
type round struct {
	plane   int
	changed []want
	// down says that it goes to an older version.
	down bool
}

// roller makes the components those that a state has, one control plane after the other.
type roller struct {
	*programs
	schedulers
	leaders
}

// rounds are what leads to the state: upward from the first control plane to the last, or from the first API server to
// the last scheduler; downward the other way round.
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

// byComponent takes rounds apart: one for each kind of component on each control plane.
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

// hold leaves out the rounds behind the place where the transition is to stop, and takes note of the control planes
// whose API servers are among them.
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

// oldest is the oldest version of the API servers that run, or the one given, which is that of the others.
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

// changes are the components of a control plane that do not run as the state wants them.
func (c *roller) changes(state clusters.State, plane int, bin programsOf) (changed []want, err error) {
	l := layout{c.layout.Dir, c.ports()}
	for _, component := range l.onPlane(state, plane) {
		w := want{component, started{
			Program: bin.path(state, component), Version: state.VersionOf(component), Args: arguments(component, l, state),
		}}
		if component.Binary() == clusters.Scheduler {
			if w.Config, err = schedulerConfig(l, component, schedulerProfiles(state, component)); err != nil {
				return nil, err
			}
		}
		if !c.runs(w) {
			changed = append(changed, w)
		}
	}
	return changed, nil
}

// goesDown says whether the state is of an older version than the API server of the control plane that was started
// last, were it by a transition that failed.
func (c *roller) goesDown(state clusters.State, plane int) bool {
	c.mu.Lock()
	before := c.record.Processes[string(c.layout.instance(clusters.APIServer, plane))].Version
	c.mu.Unlock()
	from, err1 := clusters.ParseVersion(before)
	to, err2 := clusters.ParseVersion(state.Version)
	return err1 == nil && err2 == nil && to.Compare(from) < 0
}

// rollAll makes the rounds one after the other, each proven before the next; all at once where no API server runs.
func (c *roller) rollAll(ctx context.Context, state clusters.State, rounds []round) error {
	if c.oneOf(clusters.APIServer) == "" && len(rounds) > 0 {
		rounds = []round{together(rounds)}
	}
	for _, r := range rounds {
		if err := c.roll(ctx, r); err != nil {
			return err
		}
		if err := c.prove(ctx, state, r.changed); err != nil {
			return err
		}
	}
	return nil
}

// together makes one round of several, in the order in which an upgrade starts components.
func together(rounds []round) round {
	var all round
	for _, r := range rounds {
		all.changed = append(all.changed, r.changed...)
		all.down = all.down || r.down
	}
	order := clusters.ControlPlane()
	slices.SortStableFunc(all.changed, func(a, b want) int {
		return slices.Index(order, a.component.Binary()) - slices.Index(order, b.component.Binary())
	})
	return all
}

// roll restarts components: upward kube-apiserver first, downward last, so that none ever talks to an API server
// older than itself. They become ready side by side, or a transition would cost the sum of all starts.
func (c *roller) roll(ctx context.Context, r round) error {
	if r.down {
		slices.Reverse(r.changed)
	}
	if slices.ContainsFunc(r.changed, func(w want) bool { return isAPIServer(w.component) }) {
		c.away.Add(1)
		defer c.away.Add(-1)
	}
	if err := c.stopSchedulers(ctx, r.changed); err != nil {
		return err
	}
	ended := c.endElected(ctx, r.changed)
	ready, starting := errgroup.WithContext(ctx)
	for i, w := range r.changed {
		if c.layout.elected(w.component.Binary()) {
			if err := ended(); err != nil {
				return errors.Join(err, ready.Wait())
			}
		}
		if err := c.writeConfig(w); err != nil {
			return errors.Join(err, ready.Wait())
		}
		if err := c.replace(starting, string(w.component), w.started); err != nil {
			return errors.Join(err, ready.Wait())
		}
		ready.Go(func() error { return c.readyOrAgain(starting, w.component) })
		if isAPIServer(w.component) && !r.down {
			if err := c.served(starting, r.changed, i); err != nil {
				// Who waited for it to be ready says the same, and more.
				if waited := ready.Wait(); waited != nil {
					return waited
				}
				return err
			}
		}
	}
	if err := ready.Wait(); err != nil {
		return err
	}
	return c.revive(ctx)
}

// endElected begins to end those of a round for which another control plane takes over, while the round's API server is
// being replaced: each takes most of a second to exit. It returns a function that waits for them.
func (c *roller) endElected(ctx context.Context, changed []want) (wait func() error) {
	group, ending := errgroup.WithContext(ctx)
	for _, w := range changed {
		if name := string(w.component); c.layout.elected(w.component.Binary()) {
			group.Go(func() error {
				return c.handOver(ending, w.component, func() error { return c.stop(ending, name) })
			})
		}
	}
	return sync.OnceValue(group.Wait)
}

// served waits until the API servers that were started serve those that are started next: the i-th component was the
// last. Of several the first is there before the others, which would else make the same objects at the same time, as
// none does that joins a cluster. The other components give up when nobody listens.
func (c *roller) served(ctx context.Context, changed []want, i int) error {
	more := i+1 < len(changed) && isAPIServer(changed[i+1].component)
	if more && i == 0 {
		return c.usableAt(ctx, changed[0].component)
	}
	if more {
		return nil
	}
	for _, w := range changed[:i+1] {
		if err := c.listening(ctx, w.component); err != nil {
			return err
		}
	}
	return nil
}
