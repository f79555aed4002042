package harness

import (
	"context"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// restoreVerb needs no alone: the scenario took the snapshot.
func restoreVerb() verb {
	return verb{run: runRestore, needs: always(clusters.AbilitySnapshots), moves: true}
}

// runRestore restores what was stored in the cluster. Everything known about it must be read again.
func runRestore(ctx context.Context, s *scenarioRun, _ int, step scenarios.Step) result {
	return withSnapshots(ctx, s, step, step.Restore.Name, func(ctx context.Context, c clusters.Snapshotter) error {
		if err := s.shared.history.Pause(ctx); err != nil {
			return err
		}
		defer s.shared.history.Resume()
		resumeViews, err := s.shared.views.pause(ctx)
		if err != nil {
			return err
		}
		defer resumeViews()
		resumeSurveys, err := s.survivals.pause(ctx)
		if err != nil {
			return err
		}
		defer resumeSurveys()
		return restoreAll(ctx, s, c, step.Restore.Name)
	})
}

// restoreAll restores the cluster while its systems are down, since they also know what no longer exists.
func restoreAll(ctx context.Context, s *scenarioRun, cluster clusters.Snapshotter, name string) error {
	defer s.shared.kinds.Reset()
	defer s.shared.schemas.Reset()
	defer s.shared.kinds.ExpectMore()
	installed := s.shared.track.Path[s.at].Systems
	if s.shared.systems == nil {
		return cluster.Restore(ctx, name)
	}
	defer s.shared.systems.Hold(ctx)()
	for _, system := range installed {
		if system.Kind() == "manifests" {
			continue
		}
		if err := s.shared.systems.Kill(ctx, system.Name); err != nil && !errors.Is(err, systems.ErrNotRunning) {
			return fmt.Errorf("stop system %s: %w", system.Name, err)
		}
	}
	if err := cluster.Restore(ctx, name); err != nil {
		return err
	}
	s.shared.systems.Reinstall() // the cluster may have the configurations of an earlier definition again
	return s.shared.systems.Converge(ctx, installed)
}
