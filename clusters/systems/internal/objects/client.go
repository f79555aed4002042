// Package objects reads, writes and deletes the objects of systems in a cluster, and finds out what is served.
package objects

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// manager is the field manager of applied objects, and the user agent.
const manager = "rehearse-systems"

// Label is the label of everything that was installed for a system. Its value is the system's name.
const Label = "rehearse.dev/system"

// Client is a client for the cluster.
type Client struct {
	dynamic   dynamic.Interface
	metadata  metadata.Interface
	typed     kubernetes.Interface
	discovery discovery.DiscoveryInterface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
}

// Reference names an object in the cluster.
type Reference struct {
	Kind      schema.GroupKind
	Version   string
	Namespace string
	Name      string
}

// String is "kind namespace/name".
func (r Reference) String() string {
	if r.Namespace == "" {
		return r.Kind.Kind + " " + r.Name
	}
	return r.Kind.Kind + " " + r.Namespace + "/" + r.Name
}

// Same reports whether two references are to the same object, perhaps in different API versions.
func (r Reference) Same(other Reference) bool {
	return r.Kind == other.Kind && r.Namespace == other.Namespace && r.Name == other.Name
}

// Add adds a reference, or replaces the one to the same object.
func Add(list []Reference, r Reference) []Reference {
	if at := slices.IndexFunc(list, r.Same); at >= 0 {
		list[at] = r
		return list
	}
	return append(list, r)
}

// New returns a client.
func New(config *rest.Config) (*Client, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = manager
	// Every request has its own timeout. Warnings about deprecated versions do not matter here.
	config.WarningHandler = rest.NoWarnings{}
	dynamicClient, err1 := dynamic.NewForConfig(config)
	metadataClient, err2 := metadata.NewForConfig(config)
	typed, err3 := kubernetes.NewForConfig(config)
	found, err4 := discovery.NewDiscoveryClientForConfig(config)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	return &Client{
		dynamic: dynamicClient, metadata: metadataClient, typed: typed, discovery: found,
		mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found)),
	}, nil
}

// Ready returns an error if the API server is not ready.
func (c *Client) Ready(ctx context.Context) error {
	return c.discovery.RESTClient().Get().AbsPath("/readyz").MaxRetries(0).Do(ctx).Error()
}

// mapping finds the resource of a kind. If the kind is unknown, it reads discovery again.
func (c *Client) mapping(kind schema.GroupKind, version string) (*meta.RESTMapping, error) {
	mapping, err := c.mapper.RESTMapping(kind, version)
	if meta.IsNoMatchError(err) {
		c.mapper.Reset()
		mapping, err = c.mapper.RESTMapping(kind, version)
	}
	if err != nil {
		return nil, fmt.Errorf("find the resource of %s: %w", kind, err)
	}
	return mapping, nil
}

// defaultNamespace is the namespace of namespaced objects that do not name one.
const defaultNamespace = "default"

// resource returns the client for an object's resource, with the reference of the object.
func (c *Client) resource(object *unstructured.Unstructured) (dynamic.ResourceInterface, *meta.RESTMapping, Reference,
	error,
) {
	gvk := object.GroupVersionKind()
	mapping, err := c.mapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, nil, Reference{}, err
	}
	r := Reference{Kind: gvk.GroupKind(), Version: gvk.Version, Name: object.GetName()}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return c.dynamic.Resource(mapping.Resource), mapping, r, nil
	}
	if r.Namespace = object.GetNamespace(); r.Namespace == "" {
		r.Namespace = defaultNamespace
	}
	return c.dynamic.Resource(mapping.Resource).Namespace(r.Namespace), mapping, r, nil
}

// Apply applies an object server-side, because the size of the object is then not limited by an annotation. made
// reports whether the object was created.
func (c *Client) Apply(ctx context.Context, system string,
	object *unstructured.Unstructured,
) (made bool, r Reference, err error) {
	client, mapping, r, err := c.resource(object)
	if err != nil {
		return false, r, err
	}
	if r.Name == "" {
		return false, r, fmt.Errorf("apply a %s: it has no name", r.Kind.Kind)
	}
	there, err := c.there(ctx, mapping, r)
	if err != nil {
		return false, r, err
	}
	made = there == nil
	object = object.DeepCopy()
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[Label] = system
	object.SetLabels(labels)
	object.SetManagedFields(nil)
	object.SetNamespace(r.Namespace)
	if _, err := client.Apply(ctx, r.Name, object, metav1.ApplyOptions{FieldManager: manager, Force: true}); err != nil {
		return false, r, fmt.Errorf("apply %s: %w", r, err)
	}
	return made, r, nil
}

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
