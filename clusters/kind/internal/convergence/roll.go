package convergence

import (
	"context"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/images"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/staticpods"
)

// round is one step of a rolling transition. It changes a control plane, or one kind of component on it.
type round struct {
	plane  int
	change *nodeChange
}

// Roll is Converge in a given order, and up to a given place. The kubelets change last, and in a rollback first: none
// may be newer than an API server.
func (c *Converger) Roll(ctx context.Context, state clusters.State, roll clusters.Roll) error {
	bin, down, err := c.setOut(ctx, state)
	if err != nil {
		return err
	}
	r := roller{c, state, bin, roll, down}
	held, err := r.changeAll(ctx)
	switch {
	case err != nil:
		return err
	case len(held) > 0:
		return r.pause(ctx, held)
	}
	if err := c.finish(ctx, state); err != nil {
		return err
	}
	return c.Record.Arrive(state)
}

// roller makes one rolling transition.
type roller struct {
	*Converger

	state clusters.State
	bin   images.Artifacts
	roll  clusters.Roll
	down  bool
}

// changeAll makes the rounds up to the place where the transition stops, and returns the remaining ones.
func (c *roller) changeAll(ctx context.Context) (held []round, err error) {
	if c.down {
		if err := c.workers(ctx); err != nil {
			return nil, err
		}
	}
	all, err := c.rounds(ctx)
	if err != nil {
		return nil, err
	}
	now, held := hold(all, c.roll, len(c.ControlPlanes()))
	for _, r := range now {
		if err := c.apply(ctx, r.change); err != nil {
			return nil, err
		}
	}
	if c.down || len(held) > 0 {
		return held, nil
	}
	return nil, c.workers(ctx)
}

// rounds returns the rounds that lead to the state, without the kubelets.
func (c *roller) rounds(ctx context.Context) ([]round, error) {
	var all []round
	for _, s := range inTurn(c.ControlPlanes(), c.roll.APIServersFirst) {
		change, err := c.planNode(ctx, s.node, c.state, c.bin, s.components...)
		if err != nil {
			return nil, err
		}
		if len(change.replacements) > 0 {
			// A scheduler may wait for an API that only the other version serves.
			change.early = c.down && !slices.Contains(s.components, clusters.APIServer)
			plane := slices.IndexFunc(c.ControlPlanes(), func(n nodes.Node) bool { return n.Name == s.node.Name })
			all = append(all, round{plane, change})
		}
	}
	if c.down {
		slices.Reverse(all)
	}
	return all, nil
}

// inTurn returns the stages in which control planes change one after the other. Each control plane changes completely
// before the next, or each kind of component changes on all of them before the next.
func inTurn(planes []nodes.Node, apiServersFirst bool) []stage {
	var all []stage
	if !apiServersFirst {
		for _, n := range planes {
			all = append(all, stage{n, clusters.ControlPlane()})
		}
		return all
	}
	for _, component := range clusters.ControlPlane() {
		for _, n := range planes {
			all = append(all, stage{n, []clusters.Component{component}})
		}
	}
	return all
}

// hold splits rounds at the place where the transition stops. A round with nothing to change counts as done.
func hold(all []round, roll clusters.Roll, planes int) (now, held []round) {
	if roll.UpTo == 0 {
		return all, nil
	}
	n := min(max(roll.UpTo-roll.Most(planes)+len(all), 0), len(all))
	return all[:n], all[n:]
}

// workers brings kubelets and kube-proxy to a state.
func (c *roller) workers(ctx context.Context) error {
	if c.down {
		if err := c.convergeProxy(ctx, c.state); err != nil {
			return err
		}
	}
	for _, n := range c.Nodes {
		if err := c.changeNode(ctx, n, c.state, c.bin, clusters.Kubelet); err != nil {
			return err
		}
	}
	if c.down {
		return nil
	}
	return c.convergeProxy(ctx, c.state)
}

func isAPIServer(r *replacement) bool { return r.component == clusters.APIServer }

// pause waits until the cluster of a stopped transition can be used, and records which control planes are behind.
func (c *roller) pause(ctx context.Context, held []round) error {
	// Control planes that are behind have the gates of their own state.
	if err := c.settled(ctx, func(*staticpods.Pod) error { return nil }); err != nil {
		return err
	}
	// An API server that was killed before the transition is started by its round.
	running, err := c.noteKilled(ctx)
	if err != nil {
		return err
	}
	if err := c.Usable(ctx, c.state, running); err != nil {
		return err
	}
	var behind []int
	for _, r := range held {
		// With the API servers first, a control plane is behind only if its API server is.
		if slices.ContainsFunc(r.change.replacements, isAPIServer) || !c.roll.APIServersFirst {
			behind = append(behind, r.plane)
		}
	}
	slices.Sort(behind)
	return c.Record.Hold(c.state, behind)
}
