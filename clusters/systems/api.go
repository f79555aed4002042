package systems

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

// label is the label of everything that was installed for a system. Its value is the system's name.
const label = "rehearse.dev/system"

// api is a client for the cluster.
type api struct {
	dynamic   dynamic.Interface
	metadata  metadata.Interface
	typed     kubernetes.Interface
	discovery discovery.DiscoveryInterface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
}

// reference names an object in the cluster.
type reference struct {
	kind      schema.GroupKind
	version   string
	namespace string
	name      string
}

// String is "kind namespace/name".
func (r reference) String() string {
	if r.namespace == "" {
		return r.kind.Kind + " " + r.name
	}
	return r.kind.Kind + " " + r.namespace + "/" + r.name
}

// same reports whether two references are to the same object, perhaps in different API versions.
func (r reference) same(other reference) bool {
	return r.kind == other.kind && r.namespace == other.namespace && r.name == other.name
}

// addReference adds a reference, or replaces the one to the same object.
func addReference(list []reference, r reference) []reference {
	if at := slices.IndexFunc(list, r.same); at >= 0 {
		list[at] = r
		return list
	}
	return append(list, r)
}

func newAPI(config *rest.Config) (*api, error) {
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
	return &api{
		dynamic: dynamicClient, metadata: metadataClient, typed: typed, discovery: found,
		mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found)),
	}, nil
}

// ready returns an error if the API server is not ready.
func (a *api) ready(ctx context.Context) error {
	return a.discovery.RESTClient().Get().AbsPath("/readyz").MaxRetries(0).Do(ctx).Error()
}

// mapping finds the resource of a kind. If the kind is unknown, it reads discovery again.
func (a *api) mapping(kind schema.GroupKind, version string) (*meta.RESTMapping, error) {
	mapping, err := a.mapper.RESTMapping(kind, version)
	if meta.IsNoMatchError(err) {
		a.mapper.Reset()
		mapping, err = a.mapper.RESTMapping(kind, version)
	}
	if err != nil {
		return nil, fmt.Errorf("find the resource of %s: %w", kind, err)
	}
	return mapping, nil
}

// defaultNamespace is the namespace of namespaced objects that do not name one.
const defaultNamespace = "default"

// resource returns the client for an object's resource, with the reference of the object.
func (a *api) resource(object *unstructured.Unstructured) (dynamic.ResourceInterface, *meta.RESTMapping, reference,
	error,
) {
	gvk := object.GroupVersionKind()
	mapping, err := a.mapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, nil, reference{}, err
	}
	r := reference{kind: gvk.GroupKind(), version: gvk.Version, name: object.GetName()}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return a.dynamic.Resource(mapping.Resource), mapping, r, nil
	}
	if r.namespace = object.GetNamespace(); r.namespace == "" {
		r.namespace = defaultNamespace
	}
	return a.dynamic.Resource(mapping.Resource).Namespace(r.namespace), mapping, r, nil
}

// apply applies an object server-side, because the size of the object is then not limited by an annotation. made
// reports whether the object was created.
func (a *api) apply(ctx context.Context, system string,
	object *unstructured.Unstructured,
) (made bool, r reference, err error) {
	client, mapping, r, err := a.resource(object)
	if err != nil {
		return false, r, err
	}
	if r.name == "" {
		return false, r, fmt.Errorf("apply a %s: it has no name", r.kind.Kind)
	}
	_, err = a.metadata.Resource(mapping.Resource).Namespace(r.namespace).Get(ctx, r.name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return false, r, fmt.Errorf("look for %s: %w", r, err)
	}
	made = err != nil
	object = object.DeepCopy()
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[label] = system
	object.SetLabels(labels)
	object.SetManagedFields(nil)
	object.SetNamespace(r.namespace)
	if _, err := client.Apply(ctx, r.name, object, metav1.ApplyOptions{FieldManager: manager, Force: true}); err != nil {
		return false, r, fmt.Errorf("apply %s: %w", r, err)
	}
	return made, r, nil
}
