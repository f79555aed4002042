package probes

import (
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
)

// sampleOf returns an object that matches a rule. If the manifests contain its CustomResourceDefinition, the object has
// the fields that the schema requires.
func sampleOf(rule admissionv1.Rule, manifests []*unstructured.Unstructured) map[string]any {
	group, version, resource := first(rule.APIGroups, ""), first(rule.APIVersions, "v1"), first(rule.Resources,
		"configmaps")
	for _, crd := range manifests {
		spec, _ := crd.Object["spec"].(map[string]any)
		plural, _, _ := unstructured.NestedString(spec, "names", "plural")
		if crd.GroupVersionKind().GroupKind() != objects.CRDKind || spec["group"] != group || plural != resource {
			continue
		}
		kind, _, _ := unstructured.NestedString(spec, "names", "kind")
		object := map[string]any{}
		versions, _ := spec["versions"].([]any)
		for _, item := range versions {
			if v, _ := item.(map[string]any); v["name"] == version {
				schema, _, _ := unstructured.NestedMap(v, "schema", "openAPIV3Schema")
				object, _ = sample(schema).(map[string]any)
			}
		}
		object["apiVersion"], object["kind"] = group+"/"+version, kind
		return object
	}
	kind, known := map[string]string{
		"configmaps": "ConfigMap", "cronjobs": "CronJob", "daemonsets": "DaemonSet", "deployments": "Deployment",
		"ingresses": "Ingress", "jobs": "Job",
		"namespaces": "Namespace", "pods": "Pod", "secrets": "Secret", "serviceaccounts": "ServiceAccount",
		"services": "Service", "statefulsets": "StatefulSet",
	}[resource]
	if !known {
		kind = "the kind of " + resource
	}
	return map[string]any{"apiVersion": strings.TrimPrefix(group+"/"+version, "/"), "kind": kind}
}

// first returns the first text that is neither a wildcard nor a subresource; otherwise if there is none.
func first(texts []string, otherwise string) string {
	for _, text := range texts {
		if !strings.ContainsAny(text, "*/") {
			return text
		}
	}
	return otherwise
}

// sample returns a small value that is valid by a schema such as a CustomResourceDefinition's: it contains only
// required fields. Patterns and CEL rules are ignored.
func sample(schema map[string]any) any {
	if value, ok := schema["default"]; ok {
		return value
	}
	if values, _ := schema["enum"].([]any); len(values) > 0 {
		return values[0]
	}
	switch schema["type"] {
	case "array":
		items, _ := schema["items"].(map[string]any)
		return slices.Repeat([]any{sample(items)}, int(number(schema["minItems"])))
	case "string":
		if schema["format"] == "date-time" {
			return "2026-01-01T00:00:00Z"
		}
		return strings.Repeat("x", max(1, int(number(schema["minLength"]))))
	case "boolean":
		return false
	case "integer", "number":
		return sampleNumber(schema)
	}
	if schema["x-kubernetes-int-or-string"] == true {
		return int64(1)
	}
	return sampleObject(schema)
}

func sampleObject(schema map[string]any) map[string]any {
	object := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, item := range required {
		name, _ := item.(string)
		property, _ := properties[name].(map[string]any)
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, name) {
			object[name] = sample(property)
		}
	}
	return object
}

func sampleNumber(schema map[string]any) int64 {
	least, bounded := schema["minimum"]
	value := int64(1)
	if bounded {
		value = int64(number(least))
		if schema["exclusiveMinimum"] == true {
			value++
		}
	}
	if most, ok := schema["maximum"]; ok {
		value = min(value, int64(number(most)))
	}
	return value
}

// number converts a number of any type; 0 for anything else.
func number(value any) float64 {
	switch n := value.(type) {
	case int64:
		return float64(n)
	case float64:
		return n
	}
	return 0
}
