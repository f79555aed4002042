package systems

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
)

// callers are the resources whose objects contain the addresses of webhooks.
func callers() []schema.GroupVersionResource {
	admission := schema.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1"}
	return []schema.GroupVersionResource{
		admission.WithResource("mutatingwebhookconfigurations"), admission.WithResource("validatingwebhookconfigurations"),
		crdResource,
	}
}

// redirectCalls redirects calls from a system's program to its front.
func (s *installer) redirectCalls(ctx context.Context, sys *system) error {
	ca, err := sys.place.authority()
	if err != nil {
		return err
	}
	from, to := sys.place.url(), sys.place.front.url()
	for _, resource := range callers() {
		client := s.api.dynamic.Resource(resource)
		list, err := client.List(ctx, metav1.ListOptions{})
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
			err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
				object, err := client.Get(ctx, item.GetName(), metav1.GetOptions{})
				if err != nil {
					return err
				}
				if _, err := moveCalls(object, from, to, ca); err != nil {
					return err
				}
				_, err = client.Update(ctx, object, metav1.UpdateOptions{FieldManager: manager})
				return err
			})
			if err != nil {
				return fmt.Errorf("redirect %s %s to another port: %w", resource.Resource, item.GetName(), err)
			}
		}
	}
	return nil
}

// converts reports whether a URL is the conversion webhook of a CustomResourceDefinition.
func (s *installer) converts(ctx context.Context, url string) bool {
	list, err := s.api.dynamic.Resource(crdResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false // the caller then finds no webhook, and reports that
	}
	for _, crd := range list.Items {
		for _, client := range clientsOf(&crd) {
			if at, _ := client["url"].(string); at == url || strings.HasPrefix(at, url+"/") {
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
		if at != from && !strings.HasPrefix(at, from+"/") {
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
