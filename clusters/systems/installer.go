package systems

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems/documents"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/installing"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/places"
)

// installer installs systems in a cluster.
type installer struct{ installing.Installer }

// deploy installs a system that the cluster runs, if it is new or changed, and returns when it serves.
func (s *installer) deploy(ctx context.Context, sys *system, changed bool) error {
	manifests, err := manifestsOf(ctx, sys.definition)
	if err != nil {
		return err
	}
	if changed {
		if err := s.Deploy(ctx, &sys.installation, manifests); err != nil {
			return err
		}
	}
	return s.ProveManifests(ctx, &sys.installation, manifests, objectsOf(sys.definition.Probes))
}

func manifestsOf(ctx context.Context, definition clusters.System) ([]*unstructured.Unstructured, error) {
	e := expander{values: map[string]string{}}
	if definition.Version != "" {
		e.values["VERSION"] = definition.Version
	}
	names := e.list(definition.Manifests)
	if e.err != nil {
		return nil, e.err
	}
	var all []*unstructured.Unstructured
	for _, name := range names {
		objects, err := documents.Fetch(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	return all, nil
}

// serves returns when the CRDs, APIServices and webhooks of a system are served.
func (s *installer) serves(ctx context.Context, sys *system) error {
	if err := s.Served(ctx, &sys.installation, sys.process, !sys.unready); err != nil {
		return err
	}
	if sys.unready || sys.place.Calls() != (clusters.WebhookCalls{}) {
		return nil // webhooks that need not answer, or must not, cannot be proven
	}
	return s.ProveWebhooks(ctx, &sys.installation, sys.process, sys.place.CalledAt(), sys.program.probes)
}

// trust makes the webhooks that are called at a system's service trust the authorities of its replicas as they are now.
func (s *installer) trust(ctx context.Context, sys *system, all *places.Places) error {
	if sys.place.Service == nil {
		return nil
	}
	ca, err := all.Authorities(sys.place.Service)
	if err != nil {
		return err
	}
	return s.Trust(ctx, &sys.installation, sys.place.Service.URL(), ca)
}

// abandon ends a simulator that does not become ready, and records what it has created, so that it is removed with the
// system. The start may have failed because the context has ended.
func (s *installer) abandon(ctx context.Context, sys *system, before []objects.Reference) error {
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
func (s *installer) takeStock(ctx context.Context, sys *system, before []objects.Reference) error {
	return s.TakeStock(ctx, &sys.installation, simulatorManager(sys.definition), before)
}

// simulatorManager is the field manager of a simulator; "" if the system is not simulated.
func simulatorManager(definition clusters.System) string {
	if definition.Simulated == nil {
		return ""
	}
	return managerOf(definition.Simulator())
}

func managerOf(simulator string) string { return simulator + "-simulator" }
