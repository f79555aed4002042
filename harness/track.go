package harness

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/discovery"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/harness/barrier"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/lives"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/harness/schemas"
	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/harness/storage"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/reports"
)

// trackRun is one track while it runs.
type trackRun struct {
	*execution

	track   *planning.Track
	cluster clusters.Cluster
	systems *systems.Set // nil where there are none
	// inventory is what the cluster began with.
	inventory systems.Inventory
	kinds     *served.Kinds
	schemas   *schemas.Schemas
	history   *history.Recorder
	barrier   *barrier.Barrier

	// activity counts what happens in the cluster besides waiting.
	activity *activity
	// quiet is closed when the last scenario has ended its steps.
	quiet chan struct{}

	mu      sync.Mutex
	running int
	// unguard stops deaths from breaking the run. guardAgain lets them break it again.
	unguard, guardAgain func()

	// troubled: the cluster itself failed, so its diagnostics are worth keeping.
	troubled bool

	gates       *gateReadings
	left        *leftovers
	transitions *transitions
	views       *views
}

func newTrackRun(e *execution, track *planning.Track, place *activity) *trackRun {
	t := &trackRun{execution: e, track: track, activity: place}
	t.gates, t.left, t.transitions = &gateReadings{run: t}, &leftovers{run: t}, &transitions{run: t}
	t.views = &views{run: t, of: map[int]*trackRun{}}
	return t
}

// diedError says that a component or a system died unexpectedly.
type diedError struct{ cause error }

func (e *diedError) Error() string { return "the cluster broke: " + e.cause.Error() }

func (e *diedError) Unwrap() error { return e.cause }

// run brings the cluster up, runs the scenarios and takes the cluster down.
func (t *trackRun) run(ctx context.Context) {
	if !t.create(ctx) {
		return
	}
	defer t.remove(ctx)
	t.left.census(ctx)
	if !t.install(ctx) {
		return
	}
	t.gates.read(ctx, 0)
	t.keepFirstState(ctx)
	if err := t.connect(); err != nil {
		t.giveUp(err)
		return
	}
	defer t.history.Close()
	defer t.views.close()
	alive, broken := context.WithCancelCause(ctx)
	defer broken(nil)
	t.guard(alive, broken)
	t.running, t.quiet = len(t.track.Entries), make(chan struct{})
	t.barrier = barrier.New(len(t.track.Entries), func(n int) error { return t.transitions.make(alive, n) })
	var running sync.WaitGroup
	for i, entry := range t.track.Entries {
		if !t.acquire(alive) {
			t.skip(alive, t.track.Entries[i:])
			break
		}
		t.activity.begin()
		running.Go(func() {
			defer t.activity.end()
			newScenarioRun(t, entry).run(alive)
		})
	}
	t.activity.end()
	running.Wait()
	t.activity.begin()
	// If the run is stopped during a transition, waiting for it ends. The cluster is not removed under it.
	settled, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonedTransition)
	defer cancel()
	t.barrier.Settle(settled, 0)
}

// abandonedTransition is how long a transition may take to end after the run was stopped. The program that changes an
// existing cluster has 30 seconds to end.
const abandonedTransition = 35 * time.Second

// skip records why scenarios did not begin, and that the others need not wait for them.
func (t *trackRun) skip(ctx context.Context, entries []*planning.Entry) {
	status := reports.Error
	if interrupted(ctx) {
		status = reports.NotRun
	}
	for _, entry := range entries {
		t.Recorder.FinishScenario(entry.Report, reports.Verdict{
			Status: status, Message: "it did not begin: " + why(ctx),
		})
		t.ended()
	}
}

// leave notes that a scenario's steps have ended, and gives its slot back.
func (t *trackRun) leave() {
	t.release()
	t.ended()
}

func (t *trackRun) ended() {
	t.barrier.Leave()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running--; t.running == 0 {
		close(t.quiet)
	}
}

// create makes the cluster. It returns false if that failed.
func (t *trackRun) create(ctx context.Context) bool {
	for _, state := range t.track.Path {
		if err := t.provider.Prepare(ctx, state); err != nil {
			t.finishSetup(t.track.Setup.Create, unfinished(ctx, fmt.Errorf("prepare %s: %w", state, err)))
			return false
		}
		for _, system := range state.Systems {
			if _, err := systems.Build(ctx, system, t.modules); err != nil {
				t.finishSetup(t.track.Setup.Create, unfinished(ctx, fmt.Errorf("prepare system %s: %w", system.Name, err)))
				return false
			}
		}
	}
	t.Recorder.StartTrackStep(t.track.Report, t.track.Setup.Create)
	outcome := reports.Outcome{Status: reports.Passed}
	var err error
	if t.cluster, outcome.Evidence, err = t.makeCluster(ctx); err != nil {
		outcome = unfinished(ctx, err)
	}
	t.finishSetup(t.track.Setup.Create, outcome)
	return err == nil
}

// finishSetup records the outcome of work on the cluster, and the cluster's processes until then.
func (t *trackRun) finishSetup(step *reports.Step, outcome reports.Outcome) {
	if all := lives.Of(t.cluster); len(all) > 0 {
		t.Recorder.NoteProcesses(t.track.Report, all)
	}
	t.Recorder.FinishTrackStep(t.track.Report, step, outcome)
}

// connect makes the clients that the scenarios share.
func (t *trackRun) connect() error {
	config := writes.Configure(t.cluster.RESTConfig(), "rehearse")
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client for cluster %s: %w", t.cluster.Name(), err)
	}
	t.kinds = served.NewKinds(found.RESTClient(), t.track.Path[0].Version)
	if passOn(t.track.Path) {
		t.kinds.ExpectPeers()
	}
	t.schemas = schemas.New(found.RESTClient())
	if planning.HasSystems(t.track.Path) {
		t.kinds.ExpectMore()
	}
	if t.history, err = history.New(config, history.WithWrites(storage.Writes(t.cluster))); err != nil {
		return fmt.Errorf("watch cluster %s: %w", t.cluster.Name(), err)
	}
	return nil
}

// passOn reports whether API servers forward requests to one another in at least one of the states.
func passOn(path []clusters.State) bool {
	return slices.ContainsFunc(path, func(s clusters.State) bool {
		return s.NumberOfControlPlanes() > 1 && s.Gates(clusters.APIServer)[clusters.PeerProxyGate]
	})
}

// giveUp ends all scenarios of a cluster that cannot be used.
func (t *trackRun) giveUp(err error) {
	for _, entry := range t.track.Entries {
		t.Recorder.FinishScenario(entry.Report, reports.Verdict{Status: reports.Error, Message: err.Error()})
	}
}

// guard ends everything on the cluster when one of its components, or a system, dies.
func (t *trackRun) guard(ctx context.Context, broken context.CancelCauseFunc) {
	guarding, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var err error
		select {
		case err = <-t.componentDied():
		case err = <-t.systemDied():
		case <-guarding.Done():
		}
		if err != nil {
			t.trouble()
			broken(&diedError{err})
		}
	}()
	t.unguard = func() {
		cancel()
		<-done
	}
	t.guardAgain = func() { t.guard(ctx, broken) }
}

// componentDied returns the channel of component deaths; nil if the cluster does not report them.
func (t *trackRun) componentDied() <-chan error {
	if runner, ok := t.cluster.(clusters.ProcessRunner); ok {
		return runner.Died()
	}
	return nil
}

func (t *trackRun) trouble() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.troubled = true
}

// collect keeps the diagnostics of a failed cluster in the report folder.
func (t *trackRun) collect(ctx context.Context) {
	t.mu.Lock()
	troubled := t.troubled
	t.mu.Unlock()
	if t.ReportDir == "" || !troubled {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, diagnosticsTimeout)
	defer cancel()
	err := reports.WriteArtifacts(filepath.Join(t.ReportDir, t.track.Name), func(dir string) error {
		err := t.cluster.Collect(ctx, dir)
		if t.systems != nil {
			err = errors.Join(err, t.systems.Collect(ctx, dir))
		}
		return err
	})
	if err != nil {
		t.Progress("no diagnostics of cluster %s: %v", t.cluster.Name(), err)
	}
}

// remove deletes the cluster, even if the run was interrupted. If the cluster is kept, it reports how to reach it.
func (t *trackRun) remove(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
	defer cancel()
	t.collect(ctx)
	if t.Keep {
		t.sayKept()
		return
	}
	t.Recorder.StartTrackStep(t.track.Report, t.track.Setup.Remove)
	outcome := reports.Outcome{Status: reports.Passed}
	err := t.uninstall(ctx)
	var looked error
	outcome.Evidence, looked = t.left.find(ctx)
	if err := errors.Join(err, looked, giveBack(ctx, t.provider, t.cluster)); err != nil {
		outcome.Status, outcome.Message = reports.Error, err.Error()
	}
	t.finishSetup(t.track.Setup.Remove, outcome)
}

// giveBack deletes a cluster, or returns it to its lender.
func giveBack(ctx context.Context, provider clusters.Provider, cluster clusters.Cluster) error {
	if lender, ok := provider.(clusters.Lender); ok {
		return lender.Return(ctx, cluster)
	}
	return cluster.Delete(ctx)
}

// sayKept reports how to reach the kept cluster, or what is kept in a borrowed one.
func (t *trackRun) sayKept() {
	if whose, borrowed := planning.BorrowedFrom(t.provider); borrowed {
		t.Say("%s keeps the objects of the scenarios", whose) // the kubeconfig of a borrowed cluster is temporary
		return
	}
	t.Say("cluster %s is kept: export KUBECONFIG=%s", t.cluster.Name(), t.cluster.KubeconfigPath())
}

// unfinished is the outcome of work on the cluster that returned an error: not run if the run was interrupted, an
// error otherwise.
func unfinished(ctx context.Context, err error) reports.Outcome {
	if interrupted(ctx) {
		return reports.Outcome{Status: reports.NotRun, Message: "interrupted: " + err.Error()}
	}
	return reports.Outcome{Status: reports.Error, Message: err.Error()}
}

// interrupted reports whether the run was interrupted. A timeout or the death of a component is not an interrupt.
func interrupted(ctx context.Context) bool {
	cause := context.Cause(ctx)
	var died *diedError
	return cause != nil && !errors.As(cause, &died) && !errors.Is(cause, context.DeadlineExceeded)
}

// died reports whether the context ended because a component died on its own.
func died(ctx context.Context) bool {
	var ended *diedError
	return errors.As(context.Cause(ctx), &ended)
}

// why returns why the context ended, for a person.
func why(ctx context.Context) string {
	if interrupted(ctx) {
		return "the run was interrupted"
	}
	return context.Cause(ctx).Error()
}
