package growth

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
)

//go:embed bases.yaml
var basesText []byte

//go:embed definitions.yaml
var definitionsText []byte

// table has what is missing in schemas: initial objects by Kind.group, and initial values by name of a definition.
type table struct {
	kinds, definitions map[string]map[string]any
}

func newTable() (table, error) {
	var t table
	err := errors.Join(yaml.Unmarshal(basesText, &t.kinds), yaml.Unmarshal(definitionsText, &t.definitions))
	if err != nil {
		return t, fmt.Errorf("read the table of initial objects: %w", err)
	}
	for _, base := range t.kinds {
		integers(base)
	}
	for _, base := range t.definitions {
		integers(base)
	}
	return t, nil
}

// of is the initial value of a definition; nil if there is none.
func (t table) of(definition string) map[string]any {
	base, ok := t.definitions[definition[strings.LastIndex(definition, ".")+1:]]
	if !ok || definition == "" {
		return nil
	}
	return copied(base)
}

// aliases are other names of fields in rejections: those of the API server's internal version of the kind.
func aliases() map[string][][2]string {
	return map[string][][2]string{
		"CustomResourceDefinition.apiextensions.k8s.io": {
			{"spec.validation.", "spec.versions[0].schema."},
			{"spec.subresources.", "spec.versions[0].subresources."},
			{"spec.additionalPrinterColumns[", "spec.versions[0].additionalPrinterColumns["},
			{"spec.selectableFields[", "spec.versions[0].selectableFields["},
			{"spec.conversion.webhookClientConfig", "spec.conversion.webhook.clientConfig"},
		},
	}
}

// meant is the name in the schema for a field in a rejection.
func meant(kind *fields.Kind, text string) string {
	for _, pair := range aliases()[kind.GroupKind().String()] {
		if rest, ok := strings.CutPrefix(text, pair[0]); ok {
			return pair[1] + rest
		}
	}
	return text
}

// integers converts whole numbers to int64, as in all other objects.
func integers(value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if n, ok := inner.(float64); ok && n == float64(int64(n)) {
				value[name] = int64(n)
			}
			integers(inner)
		}
	case []any:
		for _, inner := range value {
			integers(inner)
		}
	}
}

// Placeholder is the name of objects that are not stored.
const Placeholder = "explore-a"

// Namespace is the namespace for objects of a kind. Kinds that affect other objects in their namespace get a separate
// one.
func Namespace(kind *fields.Kind) string {
	switch kind.Kind {
	case "ResourceQuota", "LimitRange", "PodDisruptionBudget":
		return "explore-limits"
	}
	return "explore"
}

// Namespaces lists the namespaces that the objects need.
func Namespaces() []string { return []string{"explore", "explore-limits"} }

// begin is the initial object of a kind.
func (g *grower) begin() map[string]any {
	object := map[string]any{}
	if base, ok := g.table.kinds[g.kind.GroupKind().String()]; ok {
		object = copied(base)
	}
	for _, child := range g.kind.Root.Children {
		if _, has := object[child.Name()]; !has && child.Required {
			object[child.Name()] = g.build(child)
		}
	}
	object["apiVersion"], object["kind"] = g.kind.GroupVersion().String(), g.kind.Kind
	metadata, _ := object["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		object["metadata"] = metadata
	}
	if metadata["name"] == nil {
		metadata["name"] = Placeholder
	}
	if g.kind.Namespaced {
		metadata["namespace"] = Namespace(g.kind)
	}
	return object
}

// Named is a copy of an object with a unique name. It returns false if the kind has fixed names.
func Named(kind *fields.Kind, object map[string]any, n int) (map[string]any, bool) {
	object = copied(object)
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	switch {
	case kind.Kind == "CustomResourceDefinition":
		spec, _ := object["spec"].(map[string]any)
		names, _ := spec["names"].(map[string]any)
		if names == nil || names["plural"] != "explore-as" {
			return object, false
		}
		names["plural"], names["kind"] = fmt.Sprintf("explore-%ds", n), fmt.Sprintf("Explore%d", n)
		metadata["name"] = fmt.Sprintf("explore-%ds.%v", n, spec["group"])
		return object, true
	case kind.Kind == "IPAddress":
		metadata["name"] = fmt.Sprintf("10.9.%d.%d", n/250, n%250+1)
		return object, true
	case strings.Contains(name, Placeholder):
		metadata["name"] = strings.Replace(name, Placeholder, fmt.Sprintf("explore-%d", n), 1)
		return object, true
	}
	return object, false
}

// Generated reports whether a generated CustomResourceDefinition defines a kind. Such kinds come and go with their
// definitions, so they are not explored.
func Generated(kind *fields.Kind) bool {
	return kind.Group == "explore.example.com" && strings.HasPrefix(kind.Kind, "Explore")
}

// referenced is the name to which generated objects refer.
const referenced = "a"

// Harmless reports whether an object may be stored because it does not affect others.
func Harmless(kind *fields.Kind, object map[string]any) bool {
	spec, _ := object["spec"].(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	if metadata["name"] == referenced {
		return false // others refer to it: hundreds of pods would reserve one ResourceClaim
	}
	switch kind.Kind {
	case "APIService":
		return false // no server would serve its group, and discovery would be incomplete
	case "CustomResourceDefinition":
		conversion, _ := spec["conversion"].(map[string]any)
		return conversion["strategy"] != "Webhook"
	case "PriorityClass":
		return object["globalDefault"] != true
	case "ServiceCIDR":
		return false // Services would get addresses from it
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy",
		"MutatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicyBinding":
		return matchesNothing(object)
	}
	return true
}

// matchesNothing reports whether all rules of a webhook or policy are for a group that no server serves.
func matchesNothing(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if groups, ok := inner.([]any); ok && name == "apiGroups" {
				if len(groups) != 1 || groups[0] != "none.example.com" {
					return false
				}
				continue
			}
			if !matchesNothing(inner) {
				return false
			}
		}
	case []any:
		for _, inner := range value {
			if !matchesNothing(inner) {
				return false
			}
		}
	}
	return true
}
