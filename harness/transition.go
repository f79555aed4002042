package harness

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/reports"
)

// transitions take a track's cluster from state to state.
type transitions struct {
	run *trackRun
	// wrecked is what the last transition broke, as expected.
	wrecked atomic.Pointer[clusters.BrokenError]
	// patience is the longest time that a waiting transition step allows. The run's lock guards it.
	patience time.Duration
}

// make makes the n-th transition of the track.
func (c *transitions) make(ctx context.Context, n int) error {
	c.run.activity.begin()
	defer c.run.activity.end()
	step, patience := c.run.track.Setup.Transitions[n], c.takePatience()
	c.run.Recorder.StartTrackStep(c.run.track.Report, step)
	if c.mayBreak(n) {
		c.run.unguard()
	}
	timed, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := c.patiently(n, func() error { return c.reach(ctx, timed, n, patience) })
	if arrived := c.run.track.Path[n+1].Version; err == nil {
		c.run.kinds.Cross(arrived)
	} else {
		c.run.kinds.Cross("")
	}
	c.run.schemas.Reset()
	c.run.views.cross(ctx)
	wreck, err := c.judge(timed, n, err)
	if err == nil && (wreck == nil || wreck.Component.Binary() != clusters.APIServer) {
		c.run.history.Reread(ctx) // another version of the API server answers, even if something else broke
	}
	c.guardAfter(n, c.wrecked.Swap(wreck), wreck, err)
	outcome := reports.Outcome{Status: reports.Passed}
	if wreck != nil {
		outcome.Evidence = "as expected: " + wreck.Words
	}
	var whole *notBrokenError
	if err != nil && !errors.As(err, &whole) {
		c.run.trouble()
		outcome = unfinished(ctx, err)
	}
	if err == nil {
		c.run.gates.read(ctx, n+1)
	}
	c.run.finishSetup(step, outcome)
	return err
}

// patiently makes a transition. If it is expected to break and takes long, a component probably does not get ready. The
// cluster then only waits, and gives its place to others.
func (c *transitions) patiently(n int, reach func() error) error {
	if c.mayBreak(n) {
		const usual = 4 // times IdleAfter: far longer than a component needs
		leave := func() bool { c.run.activity.end(); return true }
		defer lend(usual*c.run.IdleAfter, leave, c.run.activity.begin)()
	}
	return reach()
}

// reach brings the cluster to the state after the n-th transition. If that fails and the transition says so, it
// reverts the cluster.
func (c *transitions) reach(ctx, timed context.Context, n int, patience time.Duration) error {
	options := c.run.track.TransitionOptions[n]
	err := c.run.converge(timed, c.run.track.Path[n+1], options)
	if err != nil && options.Revert {
		return c.revert(ctx, n, patience, err)
	}
	return err
}

// judge returns what the n-th transition broke as expected, or what is wrong.
func (c *transitions) judge(ctx context.Context, n int, err error) (*clusters.BrokenError, error) {
	if wanted := c.run.track.Breaks(n); wanted != nil {
		return asBroken(ctx, wanted, c.run.track.Path[n+1], err)
	}
	return nil, err
}

// mayBreak reports whether deaths during the n-th transition must not end the run.
func (c *transitions) mayBreak(n int) bool {
	return c.run.track.Breaks(n) != nil || c.run.track.TransitionOptions[n].Revert
}

// guardAfter guards the cluster again after the n-th transition, if it is whole and not guarded. Deaths in a cluster
// that was broken before, or was reverted, do not count.
func (c *transitions) guardAfter(n int, before, now *clusters.BrokenError, err error) {
	if now != nil || err != nil && c.run.track.Breaks(n) != nil || before == nil && !c.mayBreak(n) {
		return
	}
	if before != nil || err != nil {
		c.forgetDeaths()
	}
	c.run.guardAgain()
}

// allow makes the next crossing wait at least that long.
func (c *transitions) allow(patience time.Duration) {
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	c.patience = max(c.patience, patience)
}

// takePatience returns how long the next crossing may take, and resets it.
func (c *transitions) takePatience() time.Duration {
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	patience := max(c.patience, time.Second)
	c.patience = 0
	return patience
}

// revert takes the cluster back to the n-th state of the path, after the transition from it failed. The error it
// returns also describes the result.
func (c *transitions) revert(ctx context.Context, n int, patience time.Duration, err error) error {
	if interrupted(ctx) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	before := c.run.track.Path[n]
	c.run.Progress("the transition failed; reverting the cluster to %s", before)
	if backErr := c.run.converge(ctx, before, planning.TransitionOptions{}); backErr != nil {
		return fmt.Errorf("%w\nand the cluster could not be reverted to %s: %w", err, before, backErr)
	}
	return fmt.Errorf("%w\nthe cluster was taken back to %s", err, before)
}
