package harness

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/reports"
)

// firstStates are copies of what clusters stored in the first states of their tracks.
type firstStates struct {
	mu   sync.Mutex
	kept map[*planning.Track]*firstState
	// settled are the tracks for which it is known whether there is a copy. news signals that there is another one.
	settled map[*planning.Track]bool
	news    chan struct{}
}

func newFirstStates() *firstStates {
	return &firstStates{
		kept: map[*planning.Track]*firstState{}, settled: map[*planning.Track]bool{},
		news: make(chan struct{}, 1),
	}
}

// firstState is a copy of a cluster, and what was made in it for its systems.
type firstState struct {
	copied    clusters.Copied
	inventory systems.Inventory
}

// of returns the copy that a track can begin with; nil if there is none.
func (c *firstStates) of(track *planning.Track) *firstState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept[track.From]
}

// next takes from a queue the first track that need not wait for the first state of another track. It returns nil if
// all must wait.
func (c *firstStates) next(queue *[]*planning.Track) *planning.Track {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(*queue, func(t *planning.Track) bool { return t.From == nil || c.settled[t.From] })
	if i < 0 {
		return nil
	}
	track := (*queue)[i]
	*queue = slices.Delete(*queue, i, i+1)
	return track
}

func (c *firstStates) keep(of *planning.Track, state *firstState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept[of] = state
}

// settle notes that no other copy of a track's first state will be made.
func (c *firstStates) settle(track *planning.Track) {
	c.mu.Lock()
	c.settled[track] = true
	c.mu.Unlock()
	select {
	case c.news <- struct{}{}:
	default: // a waiting goroutine checks all of them
	}
}

// makeCluster creates the track's cluster, from a copy of another track's first state if there is one. The evidence
// names that track.
func (t *trackRun) makeCluster(ctx context.Context) (made clusters.Cluster, evidence string, err error) {
	name := t.Prefix + "-" + t.track.Name
	first := t.firstStates.of(t.track)
	copier, able := t.provider.(clusters.Copier)
	if first == nil || !able {
		made, err = t.provider.Create(ctx, name, t.track.Path[0])
		return made, "", err
	}
	t.inventory = first.inventory
	made, err = copier.CreateFrom(ctx, name, t.track.Path[0], first.copied)
	return made, "from the snapshot of " + t.track.From.Name, err
}

// keepFirstState keeps the first state for the tracks that begin with it. If that fails, they begin without it.
func (t *trackRun) keepFirstState(ctx context.Context) {
	defer t.firstStates.settle(t.track)
	copier, able := t.provider.(clusters.Copier)
	if t.track.Setup.Snapshot == nil || !able {
		return
	}
	t.Recorder.StartTrackStep(t.track.Report, t.track.Setup.Snapshot)
	outcome := reports.Outcome{Status: reports.Passed}
	if err := t.copyFirstState(ctx, copier); err != nil {
		outcome = unfinished(ctx, err)
	}
	t.finishSetup(t.track.Setup.Snapshot, outcome)
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
	t.firstStates.keep(t.track, state)
	return nil
}

// discardFirstStates removes all copies. Clusters that were made from them stay.
func (e *execution) discardFirstStates() {
	for track, state := range e.firstStates.kept {
		if err := state.copied.Discard(); err != nil {
			e.Say("the snapshot of %s remains: %v", track.Name, fmt.Errorf("remove it: %w", err))
		}
	}
}
