package systems

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	crdKind     = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
	crdResource = crdKind.WithVersion("v1").GroupVersion().WithResource("customresourcedefinitions")
)

// crdServed returns an error that describes what is missing, until a CustomResourceDefinition is served: it must be
// established, and discovery must list all of its served versions.
func (a *api) crdServed(ctx context.Context, name string) error {
	crd, err := a.dynamic.Resource(crdResource).Get(ctx, name, metav1.GetOptions{})
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
		if err := a.discoverable(ctx,
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

// mature returns when the youngest of a system's CustomResourceDefinitions reaches that age.
func (a *api) mature(ctx context.Context, objects []reference) (time.Time, error) {
	var last time.Time
	for _, object := range objects {
		if object.kind != crdKind {
			continue
		}
		crd, err := a.dynamic.Resource(crdResource).Get(ctx, object.name, metav1.GetOptions{})
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

func (a *api) discoverable(ctx context.Context, resource schema.GroupVersionResource) error {
	var list metav1.APIResourceList
	if err := a.discovery.RESTClient().Get().AbsPath("/apis", resource.Group,
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

// redirectConversion makes the conversion webhook of a CustomResourceDefinition point to a process, if it names a
// Service.
func redirectConversion(crd *unstructured.Unstructured, url string, ca []byte) {
	client, found, _ := unstructured.NestedMap(crd.Object, "spec", "conversion", "webhook", "clientConfig")
	if found && redirect(client, url, ca) {
		// This cannot fail: NestedMap has found a map there.
		_ = unstructured.SetNestedMap(crd.Object, client, "spec", "conversion", "webhook", "clientConfig")
	}
}

// redirect makes a client configuration that names a Service point to a process instead. It returns false if the
// configuration names no Service.
func redirect(client map[string]any, url string, ca []byte) bool {
	service, ok := client["service"].(map[string]any)
	if !ok {
		return false
	}
	path, _ := service["path"].(string)
	delete(client, "service")
	client["url"] = url + path
	client["caBundle"] = base64.StdEncoding.EncodeToString(ca)
	return true
}
