package objects

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// there returns the metadata of an object; nil if it does not exist.
func (c *Client) there(ctx context.Context, mapping *meta.RESTMapping, r Reference,
) (*metav1.PartialObjectMetadata, error) {
	object, err := c.metadata.Resource(mapping.Resource).Namespace(r.Namespace).Get(ctx, r.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for %s: %w", r, err)
	}
	return object, nil
}

// Find returns the reference of an object.
func (c *Client) Find(object *unstructured.Unstructured) (Reference, error) {
	_, _, r, err := c.resource(object)
	return r, err
}

// Read returns an object as the cluster has it.
func (c *Client) Read(ctx context.Context, r Reference) (*unstructured.Unstructured, error) {
	mapping, err := c.mapping(r.Kind, r.Version)
	if err != nil {
		return nil, err
	}
	return c.dynamic.Resource(mapping.Resource).Namespace(r.Namespace).Get(ctx, r.Name, metav1.GetOptions{})
}

// Owner returns the name of the system for which an object was installed; there reports whether the object exists.
func (c *Client) Owner(ctx context.Context, r Reference) (system string, there bool, err error) {
	mapping, err := c.mapping(r.Kind, r.Version)
	if err != nil {
		return "", false, err
	}
	known, err := c.there(ctx, mapping, r)
	if known == nil {
		return "", false, err
	}
	return known.Labels[Label], true, nil
}

// Exists reports whether an object exists.
func (c *Client) Exists(ctx context.Context, r Reference) (bool, error) {
	mapping, err := c.served(r)
	if mapping == nil {
		return false, err
	}
	there, err := c.there(ctx, mapping, r)
	return there != nil, err
}

// served returns the mapping of an object's kind; nil, without an error, if the kind is not served: then its CRD was
// deleted first.
func (c *Client) served(r Reference) (*meta.RESTMapping, error) {
	mapping, err := c.mapping(r.Kind, r.Version)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	return mapping, err
}
