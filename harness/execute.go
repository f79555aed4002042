package harness

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

// Default and fixed times.
const (
	defaultStepTimeout       = 30 * time.Second
	defaultTransitionTimeout = 10 * time.Minute
	defaultRestartTimeout    = 2 * time.Minute
	defaultCleanupTimeout    = 2 * time.Minute
	deleteTimeout            = 2 * time.Minute
	diagnosticsTimeout       = 20 * time.Second
)

// Options say how a plan is executed.
type Options struct {
	// Recorder of the run, made from the plan's Result.
	Recorder *reports.Recorder
	// Expressions of the scenarios. Default: new ones.
	Expressions *expressions.Evaluator
	// Parallel is how many scenarios run at once, besides those that only wait: up to eight times as many, so that a slow
	// system does not get ever more work. With 1, they run one after the other. Default: four for each core.
	Parallel int
	// Clusters is how many clusters exist at once. Default: one.
	Clusters int
	// SpareClusters is how many more clusters may exist while as many others only wait. Default: none.
	SpareClusters int
	// IdleAfter is how long a step waits before its scenario gives its place to others. Default: 5 seconds.
	IdleAfter time.Duration
	// Keep keeps the clusters and the scenarios' namespaces, and reports how to reach them.
	Keep bool
	// StepTimeout is the timeout of a step, or of what it waits for, if neither the step nor its scenario sets one.
	// Default: 30 seconds.
	StepTimeout time.Duration
	// CleanupTimeout is how long the removal of what a scenario made may take. On our own clusters, a namespace that
	// nothing holds may take five times as long, since many namespaces at once take long. Default: two minutes.
	CleanupTimeout time.Duration
	// ReportDir is the folder for the diagnostics of failed scenarios; "" for none.
	ReportDir string
	// KeepHistory keeps the history of every scenario in ReportDir, not only of those that failed.
	KeepHistory bool
	// Prefix of the clusters' names, which must be unique on the machine. Default: "rehearse-" and an id of the run.
	Prefix string
	// Progress receives progress messages. Optional.
	Progress clusters.Progress
	// Say receives the messages that a person must not miss, such as what is kept. Default: Progress.
	Say clusters.Progress
	// Environment of commands, as os.Environ gives it.
	Environment []string
}

func (o Options) withDefaults() Options {
	if o.Expressions == nil {
		o.Expressions = expressions.New()
	}
	if o.Parallel < 1 {
		o.Parallel = 4 * runtime.NumCPU()
	}
	if o.Clusters < 1 {
		o.Clusters = 1
	}
	if o.IdleAfter <= 0 {
		o.IdleAfter = idleAfter
	}
	if o.StepTimeout <= 0 {
		o.StepTimeout = defaultStepTimeout
	}
	if o.CleanupTimeout == 0 {
		o.CleanupTimeout = defaultCleanupTimeout
	}
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	if o.Say == nil {
		o.Say = o.Progress
	}
	return o
}

// Execute runs a plan. The results of its scenarios are in the Recorder. When the context ends, the running steps are
// stopped, the clusters are deleted, and everything else is reported as not run. The error is about the run itself:
// it was interrupted, or could not be recorded.
func Execute(ctx context.Context, plan *Plan, o Options) error {
	e := &execution{
		Options: o.withDefaults(), provider: plan.Provider, simulators: plan.Simulators, modules: plan.Modules,
		firstStates: newFirstStates(),
	}
	e.slots, e.id = make(chan struct{}, e.Parallel), strings.ToLower(rand.Text()[:8])
	e.waiting = make(chan struct{}, waitingPerSlot*e.Parallel)
	if e.Prefix == "" {
		e.Prefix = "rehearse-" + e.id
	}
	if err := e.Recorder.Start(); err != nil {
		return errors.Join(fmt.Errorf("start the reports: %w", err), e.Recorder.Finish())
	}
	stop := context.AfterFunc(ctx, e.Recorder.Interrupt)
	e.skip(plan.Skipped)
	e.runAll(ctx, plan.Tracks)
	e.discardFirstStates()
	interrupted := !stop()
	var err error
	if interrupted {
		e.Recorder.Interrupt() // the other call may not have happened yet
		err = fmt.Errorf("the run was interrupted: %w", context.Cause(ctx))
	}
	return errors.Join(err, e.Recorder.Finish())
}

// skip reports why each left-out scenario is skipped.
func (e *execution) skip(skipped []*planning.Skipped) {
	for _, s := range skipped {
		e.Recorder.FinishScenario(s.Report, reports.Verdict{Status: reports.Skipped, Message: s.Why})
	}
}

// execution is one run of a plan.
type execution struct {
	Options

	provider   clusters.Provider
	simulators systems.Simulators
	modules    systems.Modules
	// slots holds the running scenarios. A scenario that waits for others gives its slot back.
	slots chan struct{}
	// waiting holds the scenarios that only wait, and have given their slots to others.
	waiting chan struct{}
	// id distinguishes this run's marks on objects from those of other runs.
	id string
	// firstStates are copies of first states, for other tracks that begin with the same state.
	firstStates *firstStates
}

// runAll runs the tracks in order, as many at once as there may be clusters, and some more while others only wait. A
// track that begins with the first state of another track lets tracks that need not wait go first.
func (e *execution) runAll(ctx context.Context, tracks []*planning.Track) {
	places := newRooms(e.Clusters, e.SpareClusters)
	var running sync.WaitGroup
	defer running.Wait()
	queue := slices.Clone(tracks)
	for len(queue) > 0 {
		place := places.enter(ctx)
		track := e.firstStates.next(&queue)
		for track == nil && ctx.Err() == nil {
			select {
			case <-e.firstStates.news:
				track = e.firstStates.next(&queue)
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return
		}
		running.Go(func() {
			defer place.leave()
			defer e.firstStates.settle(track)
			newTrackRun(e, track, place).run(ctx)
		})
	}
}

// acquire takes a slot. It returns false if the context ended first.
func (e *execution) acquire(ctx context.Context) bool {
	select {
	case e.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (e *execution) release() { <-e.slots }
