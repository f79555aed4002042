// Package objects reads, writes and deletes the objects of systems in a cluster, and finds out what is served.
package objects

import (
	"cmp"
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
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// Manager is the field manager of applied objects, and the user agent.
const Manager = "rehearse-systems"

// Label is the label of everything that was installed for a system. Its value is the system's name.
const Label = "rehearse.dev/system"

// KeptLabel is the label of what a run with --keep has installed. It stays when a later run has updated the object.
const KeptLabel = "rehearse.dev/kept"

// Client is a client for the cluster.
type Client struct {
	dynamic   dynamic.Interface
	metadata  metadata.Interface
	discovery discovery.DiscoveryInterface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	// Keep: what is applied stays after the run.
	Keep bool
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

// Configured returns how the clients of systems connect to a cluster.
func Configured(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.UserAgent = Manager
	// Every request has its own timeout. Warnings about deprecated versions do not matter here.
	config.WarningHandler = rest.NoWarnings{}
	return config
}

// New returns a client.
func New(config *rest.Config) (*Client, error) {
	config = Configured(config)
	dynamicClient, err1 := dynamic.NewForConfig(config)
	metadataClient, err2 := metadata.NewForConfig(config)
	found, err3 := discovery.NewDiscoveryClientForConfig(config)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	return &Client{
		dynamic: dynamicClient, metadata: metadataClient, discovery: found,
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

// Find returns the reference of an object.
func (c *Client) Find(object *unstructured.Unstructured) (Reference, error) {
	gvk := object.GroupVersionKind()
	mapping, err := c.mapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return Reference{}, err
	}
	r := Reference{Kind: gvk.GroupKind(), Version: gvk.Version, Name: object.GetName()}
	if mapping.Scope.Name() != meta.RESTScopeNameRoot {
		r.Namespace = cmp.Or(object.GetNamespace(), defaultNamespace)
	}
	return r, nil
}

// client returns the client for the resource of an object.
func (c *Client) client(r Reference) (dynamic.ResourceInterface, error) {
	mapping, err := c.mapping(r.Kind, r.Version)
	if err != nil {
		return nil, err
	}
	return c.dynamic.Resource(mapping.Resource).Namespace(r.Namespace), nil
}

// Apply applies an object server-side, because the size of the object is then not limited by an annotation. made
// reports whether the object was created. With an error, it may have been created if no answer says that it was not.
func (c *Client) Apply(ctx context.Context, system string, object *unstructured.Unstructured,
) (made bool, r Reference, err error) {
	if r, err = c.Find(object); err != nil {
		return false, r, err
	}
	if r.Name == "" {
		return false, r, fmt.Errorf("apply a %s: it has no name", r.Kind.Kind)
	}
	there, err := c.there(ctx, r)
	if err != nil {
		return false, r, err
	}
	client, err := c.client(r)
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
	if c.Keep || there != nil && there.Labels[KeptLabel] != "" {
		labels[KeptLabel] = "true"
	}
	object.SetLabels(labels)
	object.SetManagedFields(nil)
	object.SetNamespace(r.Namespace)
	options := metav1.ApplyOptions{FieldManager: Manager, Force: true}
	if _, err := client.Apply(ctx, r.Name, object, options); err != nil {
		var answer apierrors.APIStatus
		rejected := errors.As(err, &answer) && answer.Status().Code >= 400 && answer.Status().Code < 500
		return made && !rejected, r, fmt.Errorf("apply %s: %w", r, err)
	}
	return made, r, nil
}

// DryRun creates an object as a dry run, and returns the result as text.
func (c *Client) DryRun(ctx context.Context, object *unstructured.Unstructured) string {
	r, err := c.Find(object)
	if err != nil {
		return err.Error()
	}
	client, err := c.client(r)
	if err != nil {
		return err.Error()
	}
	object = object.DeepCopy()
	if object.GetName() == "" && object.GetGenerateName() == "" {
		object.SetGenerateName("probe-")
	}
	options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: Manager}
	if _, err := client.Create(ctx, object, options); err != nil {
		return err.Error()
	}
	return "accepted"
}
