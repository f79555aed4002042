package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// schemaID is the name of the schema; nothing is fetched from there.
const schemaID = "https://rehearse.dev/schemas/scenario.json"

// Schema generates the JSON schema of a scenario.
func Schema(comments Comments) ([]byte, error) {
	r := jsonschema.Reflector{
		BaseSchemaID:   schemaID,
		ExpandedStruct: true,
		LookupComment:  comments.Of,
		Mapper:         mapped(comments),
	}
	root := r.Reflect(&scenarios.Scenario{})
	root.ID = schemaID
	root.Title = "Scenario of Rehearse"
	constant(root, "apiVersion", scenarios.APIVersion)
	constant(root, "kind", scenarios.Kind)
	for name, t := range map[string]reflect.Type{
		"Change": reflect.TypeFor[clusters.Change](), "ComponentChange": reflect.TypeFor[clusters.ComponentChange](),
		"Transition": reflect.TypeFor[scenarios.Transition](),
	} {
		if definition := root.Definitions[name]; definition != nil {
			allowNulls(definition, t)
		}
	}
	oneVerb(root.Definitions["Step"])
	scalarForms(root.Definitions)
	for name, definition := range root.Definitions {
		if name != "Metadata" {
			allowExpressions(definition)
		}
	}
	root.Definitions["Expression"] = &jsonschema.Schema{
		Type: "string", Pattern: `\$\{[\s\S]*\}`,
		Description: "A value of the table: ${case.x}.",
	}
	return encode(root)
}

func encode(s *jsonschema.Schema) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(s); err != nil {
		return nil, fmt.Errorf("writing the schema: %w", err)
	}
	return b.Bytes(), nil
}

// mapped returns a function with the schemas of types that differ in YAML, such as those that are a scalar there.
func mapped(comments Comments) func(reflect.Type) *jsonschema.Schema {
	return func(t reflect.Type) *jsonschema.Schema {
		switch t {
		case reflect.TypeFor[scenarios.Duration]():
			return &jsonschema.Schema{
				Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|\$\{`,
				Description: comments.Of(t, ""), Examples: []any{"500ms", "5s", "2m"},
			}
		case reflect.TypeFor[scenarios.Object]():
			return &jsonschema.Schema{Type: "object", Description: comments.Of(t, "")}
		case reflect.TypeFor[clusters.Component]():
			return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
				oneOf(append(clusters.ControlPlane(), clusters.Kubelet, clusters.KubeProxy, clusters.Etcd)),
				{Type: "string", Pattern: "^" + string(clusters.Scheduler) + "/" + `[a-z0-9]([-a-z0-9]*[a-z0-9])?$`},
			}}
		case reflect.TypeFor[scenarios.Via]():
			return &jsonschema.Schema{
				AnyOf: []*jsonschema.Schema{
					{Type: "integer", Minimum: "0"}, oneOf([]scenarios.Via{scenarios.ViaNew, scenarios.ViaOld, scenarios.ViaEach}),
				},
				Description: comments.Of(t, ""),
			}
		case reflect.TypeFor[clusters.Ability]():
			return oneOf(clusters.Abilities())
		}
		return nil
	}
}

// oneOf returns the schema of a string that is one of some words.
func oneOf[T ~string](words []T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, word := range words {
		s.Enum = append(s.Enum, string(word))
	}
	return s
}

// constant fixes the only value of a property.
func constant(s *jsonschema.Schema, name, value string) {
	if property, ok := s.Properties.Get(name); ok {
		property.Const = value
	}
}

// allowNulls allows null in the maps of a change, where it removes a key.
func allowNulls(s *jsonschema.Schema, t reflect.Type) {
	for field := range fields(t) {
		if field.Type.Kind() != reflect.Map || field.Type.Elem().Kind() != reflect.Pointer {
			continue
		}
		if property, ok := s.Properties.Get(jsonName(field)); ok && property.AdditionalProperties != nil {
			property.AdditionalProperties = &jsonschema.Schema{
				AnyOf: []*jsonschema.Schema{property.AdditionalProperties, {Type: "null"}},
			}
		}
	}
}

// oneVerb requires exactly one of a step's verbs.
func oneVerb(step *jsonschema.Schema) {
	for _, verb := range verbs() {
		step.OneOf = append(step.OneOf, &jsonschema.Schema{Required: []string{verb}})
	}
}

// scalarForms adds the short forms of Count and Text.
func scalarForms(definitions jsonschema.Definitions) {
	count, text := definitions["Count"], definitions["Text"]
	count.MinProperties = new(uint64)
	*count.MinProperties = 1
	definitions["Count"] = &jsonschema.Schema{Description: count.Description, OneOf: []*jsonschema.Schema{
		{Type: "integer", Minimum: "0"},
		{Const: "all"},
		count,
	}}
	text.MinProperties = new(uint64)
	*text.MinProperties = 1
	definitions["Text"] = &jsonschema.Schema{Description: text.Description, OneOf: []*jsonschema.Schema{
		{Type: "string", MinLength: count.MinProperties},
		{Type: "number"},
		text,
	}}
}

// allowExpressions allows ${case.x} in place of every value that is not a text anyway.
func allowExpressions(s *jsonschema.Schema) {
	for _, form := range append(slices.Clone(s.OneOf), s) {
		if form.Properties == nil {
			continue
		}
		for pair := form.Properties.Oldest(); pair != nil; pair = pair.Next() {
			pair.Value = orExpression(pair.Value, pair.Key)
		}
	}
}

// orExpression returns a schema that also allows ${case.x} in place of the value, or of a value in it.
func orExpression(s *jsonschema.Schema, name string) *jsonschema.Schema {
	if s.Type == "string" && len(s.Enum) == 0 || s.Ref == "#/$defs/Text" || name == "steps" || name == "cases" {
		return s
	}
	value := *s
	value.Description = ""
	if value.AdditionalProperties != nil {
		value.AdditionalProperties = orExpression(value.AdditionalProperties, "")
	}
	if value.Items != nil {
		value.Items = orExpression(value.Items, "")
	}
	return &jsonschema.Schema{
		Description: s.Description,
		AnyOf:       []*jsonschema.Schema{&value, {Ref: "#/$defs/Expression"}},
	}
}
