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

// runSnapshot keeps what is stored in the cluster. The scenario is alone on it.
func runSnapshot(ctx context.Context, s *scenarioRun, _ int, step scenarios.Step) result {
	cluster, ok := s.shared.cluster.(clusters.Snapshotter)
	if !ok {
		return result{Outcome: lacking("snapshot", s.shared.cluster)}
	}
	ctx, cancel := context.WithTimeout(ctx, step.Timeout.Or(defaultRestartTimeout))
	defer cancel()
	if err := cluster.Snapshot(ctx, step.Snapshot.Name); err != nil {
		return failure(reports.Error, "snapshot %s: %v", step.Snapshot.Name, err)
	}
	return result{Outcome: reports.Outcome{Status: reports.Passed}}
}
