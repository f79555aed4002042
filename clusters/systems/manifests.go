package systems

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems/documents"
)

// deploy installs a system that the cluster runs, and returns when it serves.
func (s *Set) deploy(ctx context.Context, sys *system) error {
	manifests, err := manifestsOf(ctx, sys.definition)
	if err != nil {
		return err
	}
	if err := s.installer.Deploy(ctx, &sys.installation, manifests); err != nil {
		return err
	}
	return s.installer.ProveManifests(ctx, &sys.installation, manifests, objectsOf(sys.definition.Probes))
}

// proveManifests returns when a system that the cluster runs serves.
func (s *Set) proveManifests(ctx context.Context, sys *system) error {
	manifests, err := manifestsOf(ctx, sys.definition)
	if err != nil {
		return err
	}
	return s.installer.ProveManifests(ctx, &sys.installation, manifests, objectsOf(sys.definition.Probes))
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
