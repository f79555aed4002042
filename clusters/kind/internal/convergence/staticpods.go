package convergence

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/diagnosis"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/live"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/staticpods"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/waiting"
	"github.com/rehearse-dev/rehearse/clusters/proof"
)

// replacement is a component of the control plane that will be restarted.
type replacement struct {
	component clusters.Component
	// manifest replaces the current one; "" to keep it.
	manifest string
	// proves returns nil if metrics are those of the new component.
	proves func(metrics []byte) error
	// earlier are the starts before the change, and startedBefore the start time of the old process.
	earlier       diagnosis.Starts
	startedBefore float64
	// sought is the time of the last check whether it fails to start.
	sought time.Time
	// excused counts the starts that ended while the API server was away, for components that need it.
	excused int
}

// failureInterval is the time between two checks whether a component fails to start. Each check runs a command in the
// node, which costs more than everything else.
const failureInterval = time.Second

// plan returns the replacement of a component's manifest in a node; nil if the manifest matches the state already.
func (c *changer) plan(ctx context.Context, n nodes.Node, component clusters.Component,
	state clusters.State,
) (*replacement, error) {
	current, stopped, err := manifestOf(ctx, n, component)
	if err != nil {
		return nil, err
	}
	revision := ""
	if component == clusters.Scheduler {
		if revision, err = c.writeSchedulerConfig(state); err != nil {
			return nil, err
		}
	}
	ours := c.Record.OursOf(component)
	before, after, err := staticpods.Desired(component, current, state, ours, revision)
	if err != nil || before == after && !stopped {
		return nil, err
	}
	return &replacement{component: component, manifest: after, proves: func(metrics []byte) error {
		return proof.Component(metrics, state.Version, state.Gates(component))
	}}, c.Record.Remember(component, ours)
}

// replaced returns nil as soon as the new component of a node runs and, unless the change is an early one, is ready.
// It returns a final error if the component fails to start.
func (c *changer) replaced(ctx context.Context, change *nodeChange, r *replacement) error {
	ctx, cancel := context.WithTimeout(ctx, live.OneLook)
	defer cancel()
	err := c.isNew(ctx, change, r)
	if err == nil || time.Since(r.sought) < failureInterval {
		return err
	}
	r.sought = time.Now()
	if starts, startsErr := diagnosis.StartsOf(ctx, change.node, r.component); startsErr == nil {
		if settings.Elected(r.component) && c.Answers(ctx, c.ControlPlanes()...) != nil {
			r.excused = starts.Ended(r.earlier)
		}
		if failure := starts.Failure(r.component, r.earlier, 0, r.excused); failure != nil {
			return waiting.Final(failure)
		}
	}
	return err
}

// isNew returns nil as soon as metrics prove that the new component runs, and its readiness check, if any, succeeds.
func (c *changer) isNew(ctx context.Context, change *nodeChange, r *replacement) error {
	n := change.node
	metrics, err := c.NodeMetrics(ctx, r.component, n)
	if err != nil {
		return err
	}
	if at := live.StartTime(metrics); at == 0 || at == r.startedBefore {
		return errors.New("the previous one still runs")
	}
	if err := r.proves(metrics); err != nil {
		return err
	}
	switch r.component {
	case clusters.APIServer:
		return c.Server(n).Ready(ctx)
	case clusters.Scheduler:
		if change.early {
			return nil
		}
		_, err := c.Get(ctx, string(r.component)+"-"+n.NodeName, 10259, true, "/readyz")
		return err
	case clusters.Etcd:
		return live.HasLeader(metrics)
	}
	return nil
}

// manifestOf returns a component's manifest, and whether the component was stopped.
func manifestOf(ctx context.Context, n nodes.Node,
	component clusters.Component,
) (text string, stopped bool, err error) {
	for _, folder := range []string{staticpods.ManifestsFolder, staticpods.StoppedFolder} {
		text, err := n.Read(ctx, folder+"/"+string(component)+".yaml")
		if err != nil || text != "" {
			return text, folder == staticpods.StoppedFolder, err
		}
	}
	return "", false, fmt.Errorf("node %s has no manifest of %s", n.Name, component)
}

// writeSchedulerConfig writes kube-scheduler's configuration, and returns the revision to mark its manifest with: ""
// while the scheduler has the configuration that it was created with.
func (c *changer) writeSchedulerConfig(state clusters.State) (revision string, err error) {
	config, err := settings.SchedulerConfig(state)
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.Record.Dir, nodes.FilesDir, "scheduler", settings.SchedulerConfigName)
	if err := settings.WriteFile(path, config); err != nil {
		return "", fmt.Errorf("write the configuration of kube-scheduler: %w", err)
	}
	if revision, err = settings.SchedulerRevision(state); err != nil {
		return "", err
	}
	return c.Record.Mark(revision), nil
}
