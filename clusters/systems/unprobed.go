package systems

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
)

// declared is a webhook that a manifest declares.
type declared struct {
	hook
	labels map[string]string
	rules  []admissionv1.RuleWithOperations
}

// checkProbes returns an error if a system has webhooks that are called on creation, but no probes: then nothing could
// prove that the webhooks answer. The error suggests probes. objects are those objects of the system's manifests that
// can be read before the cluster exists.
func checkProbes(definition clusters.System, objects []*unstructured.Unstructured) error {
	if len(definition.Probes) > 0 {
		return nil
	}
	var names, probes []string
	for _, w := range declaredHooks(objects) {
		// Of the webhooks of a process, only those that name a Service are redirected to it.
		if !w.creates || definition.Launched() != nil && w.client.Service == nil {
			continue
		}
		names = append(names, w.String())
		if probe := w.probe(objects); !slices.Contains(probes, probe) {
			probes = append(probes, probe)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("it has no probes, but %s must answer a creation before a step runs; add objects for "+
		"which the API server calls it "+
		"(they are created as a dry run, and a rejection is an answer, too), such as:\n    probes:\n%s", strings.Join(names,
		", "), strings.Join(probes, ""))
}

// declaredHooks returns the webhooks that manifests declare. It leaves out invalid configurations, which the API server
// rejects later.
func declaredHooks(objects []*unstructured.Unstructured) []declared {
	var all []declared
	for _, object := range objects {
		var configuration admissionv1.ValidatingWebhookConfiguration // a mutating one has these fields, too
		if !isWebhook(object) || runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &configuration) != nil {
			continue
		}
		for _, w := range configuration.Webhooks {
			d := declared{rules: w.Rules, hook: hook{
				configuration: reference{kind: object.GroupVersionKind().GroupKind(), name: object.GetName()},
				name:          w.Name, creates: creates(w.Rules), client: w.ClientConfig,
			}}
			if w.ObjectSelector != nil {
				d.labels = w.ObjectSelector.MatchLabels
			}
			all = append(all, d)
		}
	}
	return all
}

// probe returns an object that matches the first rule of the webhook for creations. It is formatted as an item of a
// YAML list.
func (w declared) probe(objects []*unstructured.Unstructured) string {
	i := slices.IndexFunc(w.rules,
		func(r admissionv1.RuleWithOperations) bool { return creates([]admissionv1.RuleWithOperations{r}) })
	object := sampleOf(w.rules[i].Rule, objects)
	if len(w.labels) > 0 {
		object["metadata"] = map[string]any{"labels": w.labels}
	}
	text, err := yaml.Marshal([]any{object})
	if err != nil {
		return "" // cannot happen: it was read as YAML
	}
	lines := strings.SplitAfter(strings.TrimRight(string(text), "\n"), "\n")
	return "    " + strings.Join(lines, "    ") + "\n"
}

// sampleOf returns an object that matches a rule. If the objects contain its CustomResourceDefinition, the object has
// the fields that the schema requires.
func sampleOf(rule admissionv1.Rule, objects []*unstructured.Unstructured) map[string]any {
	group, version, resource := first(rule.APIGroups, ""), first(rule.APIVersions, "v1"), first(rule.Resources,
		"configmaps")
	for _, crd := range objects {
		spec, _ := crd.Object["spec"].(map[string]any)
		plural, _, _ := unstructured.NestedString(spec, "names", "plural")
		if crd.GroupVersionKind().GroupKind() != crdKind || spec["group"] != group || plural != resource {
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
