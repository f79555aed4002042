package harness

import (
	"context"
	"errors"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
)

// cross makes the n-th transition of the track.
func (t *trackRun) cross(ctx context.Context, n int) error {
	step, patience := t.track.transitions[n], t.takePatience()
	t.Recorder.StartTrackStep(t.track.result, step)
	if t.mayBreak(n) {
		t.unguard()
	}
	timed, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := t.move(ctx, timed, n, patience)
	if arrived := t.track.Path[n+1].Version; err == nil {
		t.kinds.Cross(arrived)
	} else {
		t.kinds.Cross("")
	}
	t.schemas.Reset()
	if err == nil {
		t.history.Reread(ctx)
	}
	wreck, err := t.judgeCrossing(timed, n, err)
	t.guardCrossed(n, t.wrecked.Swap(wreck), wreck, err)
	outcome := reports.Outcome{Status: reports.Passed}
	if wreck != nil {
		outcome.Evidence = "as expected: " + wreck.Words
	}
	var whole *notBrokenError
	if err != nil && !errors.As(err, &whole) {
		t.trouble()
		outcome = unfinished(ctx, err)
	}
	if err == nil {
		t.readGates(ctx, n+1)
	}
	t.finishSetup(step, outcome)
	return err
}

// move brings the cluster to the state after the n-th transition, or back where the transition says so and it does not arrive.
func (t *trackRun) move(ctx, timed context.Context, n int, patience time.Duration) error {
	way := t.track.Ways[n]
	err := t.converge(timed, t.track.Path[n+1], way.Method)
	if err != nil && way.Revert {
		return t.revert(ctx, n, patience, err)
	}
	return err
}

// judgeCrossing returns what the n-th transition broke as it was expected to, or what is wrong.
func (t *trackRun) judgeCrossing(ctx context.Context, n int, err error) (*clusters.BrokenError, error) {
	if wanted := t.track.breaks(n); wanted != nil {
		return asBroken(ctx, wanted, t.track.Path[n+1], err)
	}
	return nil, err
}

// mayBreak says whether what the n-th transition kills must not end the run.
func (t *trackRun) mayBreak(n int) bool { return t.track.breaks(n) != nil || t.track.Ways[n].Revert }

// guardCrossed guards the cluster again after the n-th transition, if nobody does and it is whole. Deaths in one that was broken before, or was taken back,
// do not count.
func (t *trackRun) guardCrossed(n int, before, now *clusters.BrokenError, err error) {
	if now != nil || err != nil && t.track.breaks(n) != nil || before == nil && !t.mayBreak(n) {
		return
	}
	if before != nil || err != nil {
		t.forgetDeaths()
	}
	t.guardAgain()
}

// allow makes the next crossing wait at least that long.
func (t *trackRun) allow(patience time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.patience = max(t.patience, patience)
}

// takePatience is how long the next crossing may take.
func (t *trackRun) takePatience() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	patience := max(t.patience, time.Second)
	t.patience = 0
	return patience
}
