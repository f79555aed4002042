package objects

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

// CRDKind is that of CustomResourceDefinitions.
var (
	CRDKind     = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
	crdResource = CRDKind.WithVersion("v1").GroupVersion().WithResource("customresourcedefinitions")
)

// crdServed returns an error that describes what is missing, until a CustomResourceDefinition is served: it must be
// established, and discovery must list all of its served versions.
func (c *Client) crdServed(ctx context.Context, name string) error {
	crd, err := c.dynamic.Resource(crdResource).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	conditions, _, _ := unstructured.NestedFieldNoCopy(crd.Object, "status", "conditions")
	if !conditionTrue(conditions, "Established") {
		return fmt.Errorf("its conditions are %v", conditions)
	}
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedFieldNoCopy(crd.Object, "spec", "versions")
	list, _ := versions.([]any)
	for _, item := range list {
		version, _ := item.(map[string]any)
		if served, _ := version["served"].(bool); !served {
			continue
		}
		name, _ := version["name"].(string)
		if err := c.discoverable(ctx,
			schema.GroupVersionResource{Group: group, Version: name, Resource: plural}); err != nil {
			return err
		}
	}
	return nil
}

// youth is the age until which a CustomResourceDefinition delays creations. If it was established less than two seconds
// ago, kube-apiserver delays each creation of its kind by two seconds. So it is faster to wait for that age before the
// first creation.
const youth = 2 * time.Second

// AwaitAge returns when a creation of the kinds of a system's CustomResourceDefinitions is no longer delayed.
func (c *Client) AwaitAge(ctx context.Context, objects []Reference) error {
	at, err := c.mature(ctx, objects)
	if err == nil && !pauses.For(ctx, min(time.Until(at), youth)) {
		return context.Cause(ctx)
	}
	return err
}

// mature returns when the youngest of a system's CustomResourceDefinitions reaches that age.
func (c *Client) mature(ctx context.Context, objects []Reference) (time.Time, error) {
	var last time.Time
	for _, object := range objects {
		if object.Kind != CRDKind {
			continue
		}
		crd, err := c.dynamic.Resource(crdResource).Get(ctx, object.Name, metav1.GetOptions{})
		if err != nil {
			return last, fmt.Errorf("read the age of %s: %w", object, err)
		}
		conditions, _, _ := unstructured.NestedFieldNoCopy(crd.Object, "status", "conditions")
		list, _ := conditions.([]any)
		for _, item := range list {
			condition, _ := item.(map[string]any)
			text, _ := condition["lastTransitionTime"].(string)
			// An invalid time is ignored.
			if at, err := time.Parse(time.RFC3339, text); err == nil && condition["type"] == "Established" && at.After(last) {
				last = at
			}
		}
	}
	return last.Add(youth), nil
}

func (c *Client) discoverable(ctx context.Context, resource schema.GroupVersionResource) error {
	var list metav1.APIResourceList
	if err := c.discovery.RESTClient().Get().AbsPath("/apis", resource.Group,
		resource.Version).Do(ctx).Into(&list); err != nil {
		return err
	}
	for _, known := range list.APIResources {
		if known.Name == resource.Resource {
			return nil
		}
	}
	return fmt.Errorf("%s is not among the resources of %s", resource.Resource, resource.GroupVersion())
}

// conditionTrue reports whether a list of conditions contains one of that type that is true.
func conditionTrue(conditions any, name string) bool {
	list, _ := conditions.([]any)
	for _, item := range list {
		condition, _ := item.(map[string]any)
		if condition["type"] == name {
			return condition["status"] == "True"
		}
	}
	return false
}
