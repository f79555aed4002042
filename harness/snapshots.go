package harness

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// snapshot keeps what is stored in the cluster. The scenario is alone on it.
func (s *scenarioRun) snapshot(ctx context.Context, step scenarios.Step) result {
	cluster, ok := s.cluster.(clusters.Snapshotter)
	if !ok {
		return result{Outcome: lacking("snapshot", s.cluster)}
	}
	ctx, cancel := context.WithTimeout(ctx, step.Timeout.Or(defaultRestartTimeout))
	defer cancel()
	if err := cluster.Snapshot(ctx, step.Snapshot.Name); err != nil {
		return failure(reports.Error, "snapshot %s: %v", step.Snapshot.Name, err)
	}
	return result{Outcome: reports.Outcome{Status: reports.Passed}}
}

// restore puts back what is stored in the cluster to what it was. All that was known of it must be asked anew.
func (s *scenarioRun) restore(ctx context.Context, step scenarios.Step) result {
	cluster, ok := s.cluster.(clusters.Snapshotter)
	if !ok {
		return result{Outcome: lacking("restore", s.cluster)}
	}
	ctx, cancel := context.WithTimeout(ctx, step.Timeout.Or(defaultRestartTimeout))
	defer cancel()
	if err := s.history.Pause(ctx); err != nil {
		return failure(reports.Error, "restore %s: %v", step.Restore.Name, err)
	}
	defer s.history.Resume()
	if err := s.restoreAll(ctx, cluster, step.Restore.Name); err != nil {
		return failure(reports.Error, "restore %s: %v", step.Restore.Name, err)
	}
	return result{Outcome: reports.Outcome{Status: reports.Passed}}
}

// restoreAll restores the cluster while its systems are down: they, too, know what is no more.
func (s *scenarioRun) restoreAll(ctx context.Context, cluster clusters.Snapshotter, name string) error {
	defer s.kinds.Reset()
	defer s.schemas.Reset()
	defer s.kinds.ExpectMore()
	installed := s.track.Path[s.at].Systems
	if s.systems == nil {
		return cluster.Restore(ctx, name)
	}
	s.systems.Hold()
	for _, system := range installed {
		if system.Kind() == "manifests" {
			continue
		}
		if err := s.systems.Kill(ctx, system.Name); err != nil {
			return fmt.Errorf("stop system %s: %w", system.Name, err)
		}
	}
	if err := cluster.Restore(ctx, name); err != nil {
		return err
	}
	return s.systems.Converge(ctx, installed)
}
