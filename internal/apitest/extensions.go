package apitest

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const admission = "admissionregistration.k8s.io"

// Extensions are the kinds with which other software extends an API server.
func Extensions() []Kind {
	v1 := func(group, kind string) Kind {
		gvk := schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}
		return Kind{GVK: gvk, Resource: strings.ToLower(kind) + "s"}
	}
	return []Kind{
		v1("apiextensions.k8s.io", "CustomResourceDefinition"),
		v1(admission, "MutatingWebhookConfiguration"), v1(admission, "ValidatingWebhookConfiguration"),
	}
}

// PutWebhook creates a webhook configuration with one webhook at an address.
func (s *storage) PutWebhook(kind, configuration, name, url, operation, ca string) {
	s.Put(strings.ToLower(kind)+"s", map[string]any{
		"apiVersion": admission + "/v1", "kind": kind, "metadata": map[string]any{"name": configuration},
		"webhooks": []any{map[string]any{
			"name": name, "clientConfig": map[string]any{"url": url, "caBundle": []byte(ca)},
			"rules": []any{map[string]any{"operations": []any{operation}}},
		}},
	})
}

// establish makes a CustomResourceDefinition without a status established. A test serves its kind itself.
func establish(at key, object *unstructured.Unstructured) {
	if at.resource == "customresourcedefinitions" && object.Object["status"] == nil {
		established := map[string]any{"type": "Established", "status": "True"}
		object.Object["status"] = map[string]any{"conditions": []any{established}}
	}
}
