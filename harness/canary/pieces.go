package canary

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// nowhere is an address without a server. If the API server fails to call it, then it knows the webhook.
const nowhere = "https://127.0.0.1:1/"

// piece is one object of a canary.
type piece struct {
	resource schema.GroupVersionResource
	object   *unstructured.Unstructured
}

func (c Canary) piece(kind, resource string, content map[string]any) piece {
	object := &unstructured.Unstructured{Object: content}
	object.SetAPIVersion(admission + "/" + c.Version)
	object.SetKind(kind)
	object.SetName(c.Name)
	object.SetLabels(map[string]string{label: c.Name})
	return piece{schema.GroupVersionResource{Group: admission, Version: c.Version, Resource: resource}, object}
}

// pieces returns the objects of the canary, in the order of their creation.
func (c Canary) pieces() []piece {
	switch c.Family {
	case Role, ClusterRole:
		return c.grant()
	case "ValidatingAdmissionPolicy", Namespace:
		validation := map[string]any{"expression": "false", "message": c.Name}
		if c.Family == Namespace {
			c.Version = "v1"
			validation["messageExpression"] = "'" + sightOf("' + namespaceObject.metadata.resourceVersion + '") + "'"
		}
		return []piece{
			c.piece("ValidatingAdmissionPolicy", "validatingadmissionpolicies", map[string]any{"spec": map[string]any{
				"failurePolicy": "Fail", "matchConstraints": c.matching(),
				"validations": []any{validation},
			}}),
			c.piece("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings",
				map[string]any{"spec": map[string]any{
					"policyName": c.Name, "validationActions": []any{"Warn"}, // a warning is visible even if another policy rejects
				}}),
		}
	case "MutatingAdmissionPolicy":
		return []piece{
			c.piece("MutatingAdmissionPolicy", "mutatingadmissionpolicies", map[string]any{"spec": map[string]any{
				"failurePolicy": "Fail", "reinvocationPolicy": "Never", "matchConstraints": c.matching(),
				"mutations": []any{map[string]any{"patchType": "ApplyConfiguration", "applyConfiguration": map[string]any{
					"expression": `Object{metadata: Object.metadata{annotations: {"` + label + `": "seen"}}}`,
				}}},
			}}),
			c.piece("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings",
				map[string]any{"spec": map[string]any{"policyName": c.Name}}),
		}
	}
	webhook := c.matching()
	webhook["name"] = c.hook()
	webhook["rules"] = webhook["resourceRules"]
	delete(webhook, "resourceRules")
	webhook["clientConfig"] = map[string]any{"url": nowhere}
	webhook["admissionReviewVersions"] = []any{"v1"}
	webhook["sideEffects"] = "None"
	webhook["failurePolicy"] = "Fail"
	webhook["timeoutSeconds"] = int64(1)
	return []piece{c.piece(string(c.Family), strings.ToLower(string(c.Family))+"s",
		map[string]any{"webhooks": []any{webhook}})}
}

func (c Canary) hook() string { return c.Name + ".canary.rehearse.dev" }

// matching selects the canary's Lease.
func (c Canary) matching() map[string]any {
	return map[string]any{
		"resourceRules": []any{map[string]any{
			"apiGroups": []any{leases.Group}, "apiVersions": []any{leases.Version}, "operations": []any{"CREATE"},
			"resources": []any{leases.Resource},
		}},
		"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": c.Namespace}},
		"objectSelector":    map[string]any{"matchLabels": map[string]any{label: c.Name}},
	}
}

// sightOf is the message about a namespace that the API server knows at a resourceVersion.
func sightOf(resourceVersion string) string {
	return "known at resourceVersion " + resourceVersion + "."
}

// seen reports whether the answer to the dry run shows that the canary has an effect. sign is part of its message.
func (c Canary) seen(sign string, made *unstructured.Unstructured, warnings []string, err error) bool {
	switch c.Family {
	case "ValidatingAdmissionPolicy", Namespace:
		return slices.ContainsFunc(warnings, func(text string) bool {
			return strings.Contains(text, "ValidatingAdmissionPolicy '"+c.Name+"'") && strings.Contains(text, sign)
		})
	case "MutatingAdmissionPolicy":
		return err == nil && made.GetAnnotations()[label] == "seen"
	}
	return err != nil && strings.Contains(err.Error(), `failed calling webhook "`+c.hook()+`"`)
}
