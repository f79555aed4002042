package harness

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/reports"
)

// Equipped is a cluster that brings its own set of systems. When the cluster is given back, the set continues and the
// systems keep their last state.
type Equipped interface {
	Systems() *systems.Set
}

// equip returns the cluster's set of systems.
func (t *trackRun) equip() (*systems.Set, error) {
	if own, ok := t.cluster.(Equipped); ok {
		return own.Systems(), nil
	}
	_, borrowed := planning.BorrowedFrom(t.provider)
	return systems.New(t.cluster, systems.Options{
		Simulators: t.simulators, Modules: t.modules, Keep: t.Keep, Progress: t.Progress, Copied: t.inventory,
		Borrowed: borrowed,
	})
}

// install installs the systems of the first state in the new cluster. It returns false if that failed.
func (t *trackRun) install(ctx context.Context) bool {
	if !planning.HasSystems(t.track.Path) {
		return true
	}
	set, err := t.equip()
	if err != nil {
		t.giveUp(err)
		return false
	}
	t.systems = set
	if t.track.Setup.Install == nil {
		return true
	}
	t.Recorder.StartTrackStep(t.track.Report, t.track.Setup.Install)
	outcome := reports.Outcome{Status: reports.Passed}
	if err := set.Converge(ctx, t.track.Path[0].Systems); err != nil {
		t.trouble()
		outcome = unfinished(ctx, err)
	}
	t.finishSetup(t.track.Setup.Install, outcome)
	return outcome.Status == reports.Passed
}

// converge brings the cluster to a state by a method, and then its systems.
func (t *trackRun) converge(ctx context.Context, state clusters.State, options planning.TransitionOptions) error {
	if t.systems == nil {
		return convergeCluster(ctx, t.cluster, state, options)
	}
	release := t.systems.Hold(ctx)
	err := convergeCluster(ctx, t.cluster, state, options)
	release()
	if err != nil {
		return err
	}
	return t.systems.Converge(ctx, state.Systems)
}

func convergeCluster(ctx context.Context, c clusters.Cluster, state clusters.State,
	o planning.TransitionOptions,
) error {
	switch {
	case o.Roll != clusters.Roll{}:
		if rolling, ok := c.(clusters.Rolling); ok {
			return rolling.Roll(ctx, state, o.Roll)
		}
	case o.Method == "":
		return c.Converge(ctx, state)
	default:
		if converger, ok := c.(clusters.MethodConverger); ok {
			return converger.ConvergeBy(ctx, state, o.Method)
		}
	}
	return fmt.Errorf("transition%s of cluster %s: %w", o, c.Name(), errNoSuchComponent)
}

// uninstall ends the systems. It removes them from a borrowed cluster.
func (t *trackRun) uninstall(ctx context.Context) error {
	if _, own := t.cluster.(Equipped); own || t.systems == nil {
		return nil
	}
	_, borrowed := planning.BorrowedFrom(t.provider)
	return t.systems.Close(ctx, borrowed)
}

// systemDied returns the channel of system deaths; nil if there are no systems.
func (t *trackRun) systemDied() <-chan error {
	if t.systems == nil {
		return nil
	}
	return t.systems.Died()
}

// logFiles are the logs of the cluster's components and of its systems, by name.
func (t *trackRun) logFiles() map[string][]string {
	all := map[string][]string{}
	if logs, ok := t.cluster.(clusters.ProcessRunner); ok {
		for component, files := range logs.LogFiles() {
			all[string(component)] = files
		}
	}
	if t.systems != nil {
		for name, files := range t.systems.LogFiles() {
			all["system-"+name] = files
		}
	}
	return all
}
