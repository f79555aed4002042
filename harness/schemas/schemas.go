// Package schemas finds the fields of a kind in the schema that the API server itself serves.
package schemas

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/harness/openapi"
)

// Schemas gets the schemas of kinds, and keeps them until Reset. It is safe for concurrent use.
type Schemas struct {
	client rest.Interface

	mu sync.Mutex
	// documents are the OpenAPI documents of group versions. customs are the schemas of custom kinds.
	documents map[schema.GroupVersion]*once[openapi.Document]
	customs   map[schema.GroupVersionKind]*once[*Schema]
}

// once is a value that the first caller fetches for all callers.
type once[T any] struct {
	sync.Once
	value T
	err   error
}

// New returns Schemas that use the given client (discovery's).
func New(client rest.Interface) *Schemas {
	s := &Schemas{client: client}
	s.Reset()
	return s
}

// Reset forgets all schemas, because kinds may have other fields after a transition.
func (s *Schemas) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.documents, s.customs = map[schema.GroupVersion]*once[openapi.Document]{},
		map[schema.GroupVersionKind]*once[*Schema]{}
}

// Of returns the schema of a kind with that resource name; nil if the API server has no schema that lists its fields.
func (s *Schemas) Of(ctx context.Context, gvk schema.GroupVersionKind, resource string) (*Schema, error) {
	custom, err := get(s, &s.customs, gvk, func() (*Schema, error) { return s.custom(ctx, gvk, resource) })
	if custom != nil || err != nil {
		return custom, err
	}
	d, err := get(s, &s.documents, gvk.GroupVersion(),
		func() (openapi.Document, error) { return openapi.Fetch(ctx, s.client, gvk.GroupVersion()) })
	if err != nil {
		return nil, err
	}
	_, root := d.Kind(gvk)
	if root == nil {
		return nil, nil
	}
	return &Schema{of: d, root: root}, nil
}

func get[K comparable, T any](s *Schemas, cache *map[K]*once[T], key K, fetch func() (T, error)) (T, error) {
	s.mu.Lock()
	known := *cache // Reset replaces it
	one := known[key]
	if one == nil {
		one = &once[T]{}
		known[key] = one
	}
	s.mu.Unlock()
	one.Do(func() { one.value, one.err = fetch() })
	if one.err != nil {
		s.mu.Lock()
		delete(known, key) // the next caller retries
		s.mu.Unlock()
	}
	return one.value, one.err
}

// custom gets the schema of a kind from its CustomResourceDefinition, which is never outdated; nil if there is none.
func (s *Schemas) custom(ctx context.Context, gvk schema.GroupVersionKind, resource string) (*Schema, error) {
	if !strings.Contains(gvk.Group, ".") {
		return nil, nil
	}
	text, err := s.client.Get().AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		resource+"."+gvk.Group).Do(ctx).Raw()
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get the CustomResourceDefinition of %s: %w", gvk.Kind, err)
	}
	var definition struct {
		Spec struct {
			PreserveUnknownFields bool `json:"preserveUnknownFields"`
			Versions              []struct {
				Name   string `json:"name"`
				Schema struct {
					Root *openapi.Schema `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(text, &definition); err != nil {
		return nil, fmt.Errorf("read the CustomResourceDefinition of %s: %w", gvk.Kind, err)
	}
	for _, version := range definition.Spec.Versions {
		if version.Name == gvk.Version && version.Schema.Root != nil && !definition.Spec.PreserveUnknownFields {
			root := *version.Schema.Root
			root.Embedded = true
			return &Schema{root: &root}, nil
		}
	}
	return &Schema{root: &openapi.Schema{}}, nil // anything
}
