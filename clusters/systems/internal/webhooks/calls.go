package webhooks

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"

	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
)

// crds is the resource of CustomResourceDefinitions.
var crds = objects.CRDKind.WithVersion("v1").GroupVersion().WithResource("customresourcedefinitions")

// callers are the resources whose objects contain the addresses of webhooks.
func callers() []schema.GroupVersionResource {
	admission := admissionv1.SchemeGroupVersion
	return []schema.GroupVersionResource{
		admission.WithResource("mutatingwebhookconfigurations"), admission.WithResource("validatingwebhookconfigurations"),
		crds,
	}
}

// Redirect redirects calls of webhooks from one address to another. The webhooks must trust the authority.
func (c *Client) Redirect(ctx context.Context, from, to string, ca []byte) error {
	for _, resource := range callers() {
		list, err := c.dynamic.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("list %s: %w", resource.Resource, err)
		}
		for _, item := range list.Items {
			if moved, err := moveCalls(&item, from, to, ca); err != nil || !moved {
				if err != nil {
					return err
				}
				continue
			}
			err := c.change(ctx, resource, item.GetName(), func(object *unstructured.Unstructured) (bool, error) {
				return moveCalls(object, from, to, ca)
			})
			if err != nil {
				return fmt.Errorf("redirect %s %s to another port: %w", resource.Resource, item.GetName(), err)
			}
		}
	}
	return nil
}

// Renew gives the webhooks of a configuration, or of a CustomResourceDefinition, another address and authority, if they
// are called at an address. Other objects, and those that do not exist, have nothing to renew.
func (c *Client) Renew(ctx context.Context, r objects.Reference, from, to string, ca []byte) error {
	resource, ok := callerOf(r)
	if !ok {
		return nil
	}
	bundle := base64.StdEncoding.EncodeToString(ca)
	err := c.change(ctx, resource, r.Name, func(object *unstructured.Unstructured) (stale bool, _ error) {
		for _, client := range clientsOf(object) {
			if at, _ := client["url"].(string); isAt(at, from) && (from != to || client["caBundle"] != bundle) {
				client["url"] = to + strings.TrimPrefix(at, from)
				client["caBundle"], stale = bundle, true
			}
		}
		return stale, nil
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// callerOf returns the resource of an object, if it may contain the addresses of webhooks.
func callerOf(r objects.Reference) (schema.GroupVersionResource, bool) {
	for _, resource := range callers() {
		if resource.Group == r.Kind.Group && resource.Resource == strings.ToLower(r.Kind.Kind)+"s" {
			return resource, true
		}
	}
	return schema.GroupVersionResource{}, false
}

// change updates an object, if the change reports that it changes something.
func (c *Client) change(ctx context.Context, resource schema.GroupVersionResource, name string,
	change func(*unstructured.Unstructured) (bool, error),
) error {
	client := c.dynamic.Resource(resource)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		object, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if changed, err := change(object); err != nil || !changed {
			return err
		}
		_, err = client.Update(ctx, object, metav1.UpdateOptions{FieldManager: objects.Manager})
		return err
	})
}

// isAt reports whether a URL is an address, or a path of it.
func isAt(url, address string) bool { return url == address || strings.HasPrefix(url, address+"/") }

// Converts reports whether a URL is the conversion webhook of a CustomResourceDefinition.
func (c *Client) Converts(ctx context.Context, url string) bool {
	list, err := c.dynamic.Resource(crds).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false // the caller then finds no webhook, and reports that
	}
	for _, crd := range list.Items {
		for _, client := range clientsOf(&crd) {
			if at, _ := client["url"].(string); isAt(at, url) {
				return true
			}
		}
	}
	return false
}

// clientsOf are the client configurations in a webhook configuration, or in a CustomResourceDefinition.
func clientsOf(object *unstructured.Unstructured) []map[string]any {
	var all []map[string]any
	webhooks, _ := object.Object["webhooks"].([]any)
	for _, item := range webhooks {
		webhook, _ := item.(map[string]any)
		if client, ok := webhook["clientConfig"].(map[string]any); ok {
			all = append(all, client)
		}
	}
	conversion, _, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "conversion", "webhook", "clientConfig")
	if client, ok := conversion.(map[string]any); ok {
		all = append(all, client)
	}
	return all
}

// moveCalls changes the addresses in an object; false if there is nothing to change.
func moveCalls(object *unstructured.Unstructured, from, to string, ca []byte) (bool, error) {
	moved := false
	for _, client := range clientsOf(object) {
		at, _ := client["url"].(string)
		if !isAt(at, from) {
			continue
		}
		bundle, _ := client["caBundle"].(string)
		if own, err := base64.StdEncoding.DecodeString(bundle); err != nil ||
			strings.TrimSpace(string(own)) != strings.TrimSpace(string(ca)) {
			return false, fmt.Errorf("webhookCalls: %s %s trusts the system's own authority instead of the one in $(CERT_DIR), "+
				"so no proxy can answer its calls; give the system a service", object.GetKind(), object.GetName())
		}
		client["url"], moved = to+strings.TrimPrefix(at, from), true
	}
	return moved, nil
}

// PointTo makes the webhooks in an object that name a Service point to a process instead.
func PointTo(object *unstructured.Unstructured, url string, ca []byte) {
	for _, client := range clientsOf(object) {
		service, ok := client["service"].(map[string]any)
		if !ok {
			continue
		}
		path, _ := service["path"].(string)
		delete(client, "service")
		client["url"] = url + path
		client["caBundle"] = base64.StdEncoding.EncodeToString(ca)
	}
}
