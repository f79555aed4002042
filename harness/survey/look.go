package survey

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/inventory"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// sight is what the API server serves and stores at one moment.
type sight struct {
	inventory.Inventory
	// lists are the objects of each kind in each version, by uid, or the error of listing them.
	lists map[schema.GroupVersionKind]list
	// targets are the given objects that exist, and what controllers made for them.
	targets []*Target
}

type list struct {
	objects map[string]*unstructured.Unstructured
	err     error
}

// look discovers the served kinds, and reads all objects of the targets' kinds in every version.
func (s *Survey) look(ctx context.Context) (*sight, error) {
	served, err := inventory.Take(ctx, s.discovery)
	if err != nil {
		return nil, err
	}
	found := &sight{Inventory: served, lists: map[schema.GroupVersionKind]list{}}
	definitions, err := inventory.List(ctx, s.client, schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	if err != nil {
		return nil, fmt.Errorf("read the CustomResourceDefinitions: %w", err)
	}
	for kind := range kindsAround(s.targets, customKinds(definitions)) {
		if how := found.Kinds[kind]; how != nil {
			for _, version := range how.Versions {
				objects, err := inventory.List(ctx, s.client, how.In(kind.Group, version))
				found.lists[kind.WithVersion(version)] = list{objects, err}
			}
		}
	}
	s.findTargets(found)
	return found, context.Cause(ctx)
}

// serverError reports whether the API server answered with an internal error (500).
func serverError(err error) bool {
	status, ok := writes.StatusOf(err)
	return ok && status.Code == http.StatusInternalServerError
}
