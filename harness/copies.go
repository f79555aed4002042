package harness

import (
	"context"
	"fmt"
	"sync"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/reports"
)

// copies are what was stored in clusters in the first states of their tracks.
type copies struct {
	mu   sync.Mutex
	kept map[*Track]*firstState
	// begun are the tracks that need no copy any more.
	begun map[*Track]bool
}

// firstState is a copy of a cluster, and what was made in it for its systems.
type firstState struct {
	copied    clusters.Copied
	inventory systems.Inventory
}

// begins takes note that a track begins, and returns what it can begin with; nil where there is nothing, or nothing yet.
func (c *copies) begins(track *Track) *firstState {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun == nil {
		c.begun = map[*Track]bool{}
	}
	c.begun[track] = true
	return c.kept[track.From]
}

// awaited says whether a track has yet to begin with the first state of another.
func (c *copies) awaited(from *Track) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, track := range from.Serves {
		if !c.begun[track] {
			return true
		}
	}
	return false
}

func (c *copies) keep(of *Track, state *firstState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[*Track]*firstState{}
	}
	c.kept[of] = state
}

// begin creates the track's cluster, with the first state of another where there is one, and says so.
func (t *trackRun) begin(ctx context.Context) (made clusters.Cluster, evidence string, err error) {
	name := t.Prefix + "-" + t.track.Name
	first := t.copies.begins(t.track)
	copier, able := t.provider.(clusters.Copier)
	if first == nil || !able {
		made, err = t.provider.Create(ctx, name, t.track.Path[0])
		return made, "", err
	}
	t.inventory = first.inventory
	made, err = copier.CreateFrom(ctx, name, t.track.Path[0], first.copied)
	return made, "from the snapshot of " + t.track.From.Name, err
}

// takeCopy keeps the first state for the tracks that begin with it. Where that could not be done they begin with nothing.
func (t *trackRun) takeCopy(ctx context.Context) {
	copier, able := t.provider.(clusters.Copier)
	if t.track.snapshot == nil || !able {
		return
	}
	t.Recorder.StartTrackStep(t.track.result, t.track.snapshot)
	outcome := reports.Outcome{Status: reports.Passed}
	if t.copies.awaited(t.track) {
		if err := t.copyFirstState(ctx, copier); err != nil {
			outcome = unfinished(ctx, err)
		}
	} else {
		outcome.Evidence = "not taken: nobody waits for it any more"
	}
	t.Recorder.FinishTrackStep(t.track.result, t.track.snapshot, outcome)
}

func (t *trackRun) copyFirstState(ctx context.Context, copier clusters.Copier) error {
	state := &firstState{}
	if t.systems != nil {
		state.inventory = t.systems.Inventory()
	}
	var err error
	if state.copied, err = copier.Copy(ctx, t.cluster, t.Prefix+"-"+t.track.Name+"-snapshot"); err != nil {
		return err
	}
	t.copies.keep(t.track, state)
	return nil
}

// discardCopies removes all copies. Clusters that were made from them stay.
func (e *execution) discardCopies() {
	for track, state := range e.copies.kept {
		if err := state.copied.Discard(); err != nil {
			e.Say("the snapshot of %s is left: %v", track.Name, fmt.Errorf("remove it: %w", err))
		}
	}
}
