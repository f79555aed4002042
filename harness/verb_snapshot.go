package harness

import (
	"context"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func snapshotVerb() verb {
	return verb{
		run: runSnapshot, needs: always(clusters.AbilitySnapshots),
		alone: func(step *scenarios.Step) string { return "takes snapshot " + step.Snapshot.Name },
	}
}

// runSnapshot takes a snapshot of what the cluster stores. The scenario is alone on the cluster.
func runSnapshot(ctx context.Context, s *scenarioRun, _ int, step scenarios.Step) result {
	return withSnapshots(ctx, s, step, step.Snapshot.Name, func(ctx context.Context, c clusters.Snapshotter) error {
		return c.Snapshot(ctx, step.Snapshot.Name)
	})
}

// withSnapshots takes or restores a snapshot of that name, if the cluster supports it.
func withSnapshots(ctx context.Context, s *scenarioRun, step scenarios.Step, name string,
	do func(context.Context, clusters.Snapshotter) error,
) result {
	cluster, ok := s.shared.cluster.(clusters.Snapshotter)
	if !ok {
		return result{Outcome: lacking(step.Verb(), s.shared.cluster)}
	}
	ctx, cancel := context.WithTimeout(ctx, step.Timeout.Or(defaultRestartTimeout))
	defer cancel()
	if err := do(ctx, cluster); err != nil {
		return failure(reports.Error, "%s %s: %v", step.Verb(), name, err)
	}
	return result{Outcome: reports.Outcome{Status: reports.Passed}}
}
