package upgrade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// creator creates the users' objects, each as soon as the cluster accepts it.
type creator struct {
	client dynamic.Interface
	kinds  *served.Kinds
	// namespace is the default namespace of objects.
	namespace string
	progress  clusters.Progress
	// made are the created namespaces that are in no manifest.
	made []string
	// given has the object of each identity.
	given map[identity]*manifests.Object
}

// identity of an object in the cluster.
type identity struct {
	schema.GroupResource
	namespace, name string
}

func newCreator(cluster clusters.Cluster, namespace string, progress clusters.Progress) (*creator, error) {
	config := writes.Configure(cluster.RESTConfig(), "rehearse-upgrade")
	client, err1 := dynamic.NewForConfig(config)
	found, err2 := discovery.NewDiscoveryClientForConfig(config)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("make a client for cluster %s: %w", cluster.Name(), err)
	}
	return &creator{
		client: client, kinds: served.NewKinds(found.RESTClient(), cluster.State().Version),
		namespace: namespace, progress: progress, given: map[identity]*manifests.Object{},
	}, nil
}

// rejected is an object that the cluster rejects, and the error.
type rejected struct {
	object *manifests.Object
	err    error
}

// createWithin is how long the creation of rejected objects is retried after the last success, because what they need
// may be new. createTries is how often at least: on a busy machine, one round may take longer. createAgain is the pause
// between tries.
const (
	createWithin = 5 * time.Second
	createTries  = 5
	createAgain  = 250 * time.Millisecond
)

// createAll creates the objects in the order of their dependencies. It retries rejected objects createTries times, and
// until createWithin, after the last success.
func (c *creator) createAll(ctx context.Context, objects []*manifests.Object) ([]survey.Created, []rejected, error) {
	var created []survey.Created
	waiting := manifests.InOrder(objects)
	last, tries := time.Now(), 0
	for {
		var left []rejected
		tries++
		for i, o := range waiting {
			one, err := c.create(ctx, o)
			switch {
			case ctx.Err() != nil:
				return created, left, context.Cause(ctx)
			case err != nil:
				left = append(left, rejected{o, err})
			default:
				created, last, tries = append(created, one), time.Now(), 0
			}
			if len(objects) > 200 && (i+1)%500 == 0 {
				c.progress("%d of %d objects created", len(created), len(objects))
			}
		}
		over := tries >= createTries && time.Since(last) > createWithin
		if len(left) == 0 || !slices.ContainsFunc(left, mayPass) || over {
			return created, left, nil
		}
		waiting = waiting[:0:0]
		for _, r := range left {
			waiting = append(waiting, r.object)
		}
		pauses.For(ctx, createAgain) // the next attempt sees the end of the context
	}
}

// mayPass reports whether a retry may succeed: something that the object needs may be missing, or the API server
// could not judge it. A rejection of the object's content is final, and so is a wrong manifest. But an address may be
// of a ServiceCIDR that is not ready yet.
func mayPass(r rejected) bool {
	var wrong *manifests.Error
	if apierrors.IsInvalid(r.err) {
		return strings.Contains(r.err.Error(), "failed to allocate IP")
	}
	return !errors.As(r.err, &wrong) && !apierrors.IsBadRequest(r.err)
}

func (c *creator) create(ctx context.Context, o *manifests.Object) (survey.Created, error) {
	api, namespace, err := c.api(ctx, o)
	if err != nil {
		return survey.Created{}, err
	}
	content := o.Content.DeepCopy()
	for _, field := range []string{"resourceVersion", "uid", "managedFields"} {
		unstructured.RemoveNestedField(content.Object, "metadata", field)
	}
	if namespace != "" {
		content.SetNamespace(namespace)
	}
	if err := c.clearDefaultClass(ctx, api, content); err != nil {
		return survey.Created{}, err
	}
	stored, err := api.Create(ctx, content, metav1.CreateOptions{FieldManager: "rehearse-upgrade"})
	if namespace != "" && lacksNamespace(err, namespace) {
		if err := c.makeNamespace(ctx, namespace); err != nil {
			return survey.Created{}, err
		}
		stored, err = api.Create(ctx, content, metav1.CreateOptions{FieldManager: "rehearse-upgrade"})
	}
	if apierrors.IsAlreadyExists(err) {
		// The cluster itself creates some, such as the namespace default. Or an earlier try was stored.
		stored, err = api.Apply(ctx, content.GetName(), content, metav1.ApplyOptions{
			FieldManager: "rehearse-upgrade",
			Force:        true,
		})
	}
	if err != nil {
		return survey.Created{}, err
	}
	return survey.Created{Object: o, Namespace: namespace, UID: string(stored.GetUID())}, nil
}

// api is the client for an object. The namespace is "" if it is cluster-scoped. Only now the namespaces of all objects
// are known, so an object that was given twice, with and without the default namespace, is an error here.
func (c *creator) api(ctx context.Context, o *manifests.Object) (dynamic.ResourceInterface, string, error) {
	kind, err := c.kinds.Find(ctx, o.GVK())
	if err != nil {
		return nil, "", err
	}
	namespace := ""
	if kind.Namespaced {
		namespace = cmp.Or(o.Content.GetNamespace(), c.namespace)
	}
	id := identity{kind.Resource.GroupResource(), namespace, o.Content.GetName()}
	switch before := c.given[id]; before {
	case nil:
		c.given[id] = o
	case o:
	default:
		return nil, "", o.Twice(before)
	}
	if namespace == "" {
		return c.client.Resource(kind.Resource), "", nil
	}
	return c.client.Resource(kind.Resource).Namespace(namespace), namespace, nil
}

func lacksNamespace(err error, namespace string) bool {
	status, ok := writes.StatusOf(err)
	return ok && apierrors.IsNotFound(err) && status.Details != nil && status.Details.Kind == "namespaces" &&
		status.Details.Name == namespace
}

// makeNamespace creates a namespace that objects need and that is in no manifest.
func (c *creator) makeNamespace(ctx context.Context, name string) error {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": name},
	}}
	_, err := c.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(ctx, o,
		metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}
	if err == nil {
		c.made = append(c.made, name)
	}
	return nil
}
