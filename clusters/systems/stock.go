package systems

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
)

// abandon ends a simulator that does not become ready, and records what it has created, so that it is removed with the
// system. The start may have failed because the context has ended.
func (s *Set) abandon(ctx context.Context, sys *system, before []objects.Reference) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonTimeout)
	defer cancel()
	var stopErr error
	if sys.process != nil {
		stopErr = sys.process.Stop(ctx, stopGrace) // otherwise it could still create objects
	}
	if err := errors.Join(stopErr, s.takeStock(ctx, sys, before)); err != nil {
		return fmt.Errorf("find what it has created, to remove it later: %w", err)
	}
	return nil
}

// abandonTimeout is far more than abandon needs.
const abandonTimeout = 30 * time.Second

// takeStock records the objects that a simulator has created.
func (s *Set) takeStock(ctx context.Context, sys *system, before []objects.Reference) error {
	return s.installer.TakeStock(ctx, &sys.installation, simulatorManager(sys.definition), before)
}

// simulatorManager is the field manager of a simulator; "" if the system is not simulated.
func simulatorManager(definition clusters.System) string {
	if definition.Simulated == nil {
		return ""
	}
	return definition.Simulator() + "-simulator"
}
