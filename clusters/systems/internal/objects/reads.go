package objects

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Read returns an object as the cluster has it.
func (c *Client) Read(ctx context.Context, r Reference) (*unstructured.Unstructured, error) {
	client, err := c.client(r)
	if err != nil {
		return nil, err
	}
	return client.Get(ctx, r.Name, metav1.GetOptions{})
}

// there returns the metadata of an object; nil if it does not exist. If its kind is not served, its CRD was deleted
// first.
func (c *Client) there(ctx context.Context, r Reference) (*metav1.PartialObjectMetadata, error) {
	mapping, err := c.mapping(r.Kind, r.Version)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	object, err := c.metadata.Resource(mapping.Resource).Namespace(r.Namespace).Get(ctx, r.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for %s: %w", r, err)
	}
	return object, nil
}

// Owner is the system for which an object was installed; "" if none. Kept says that the object stays after the run.
type Owner struct {
	System string
	Kept   bool
}

// Owner returns the owner of an object; nil if the object does not exist.
func (c *Client) Owner(ctx context.Context, r Reference) (*Owner, error) {
	known, err := c.there(ctx, r)
	if known == nil {
		return nil, err
	}
	return &Owner{known.Labels[Label], known.Labels[KeptLabel] != ""}, nil
}

// Exists reports whether an object exists.
func (c *Client) Exists(ctx context.Context, r Reference) (bool, error) {
	there, err := c.there(ctx, r)
	return there != nil, err
}
