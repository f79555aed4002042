package openapi

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Schema has the parts of an OpenAPI v3 schema that are used here.
type Schema struct {
	Ref         string             `json:"$ref"`
	AllOf       []*Schema          `json:"allOf"`
	Description string             `json:"description"`
	Type        string             `json:"type"`
	Format      string             `json:"format"`
	Enum        []any              `json:"enum"`
	Required    []string           `json:"required"`
	Properties  map[string]*Schema `json:"properties"`
	Items       *Schema            `json:"items"`
	// Additional is whether an object may have more fields, or their schema; nil if the schema does not say.
	Additional  *json.RawMessage `json:"additionalProperties"`
	Minimum     *float64         `json:"minimum"`
	IntOrString bool             `json:"x-kubernetes-int-or-string"`
	Preserve    bool             `json:"x-kubernetes-preserve-unknown-fields"`
	Embedded    bool             `json:"x-kubernetes-embedded-resource"`
	Kinds       []Kind           `json:"x-kubernetes-group-version-kind"`
}

// Kind is the kind of a definition.
type Kind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// Target is the name of the definition that the schema refers to; "" if it refers to none.
func (s *Schema) Target() string { return s.Ref[strings.LastIndex(s.Ref, "/")+1:] }

// Values returns the schema of the values of a map; nil if there is none.
func (s *Schema) Values() *Schema {
	var values *Schema
	if s.Additional == nil || json.Unmarshal(*s.Additional, &values) != nil {
		return nil // true or false
	}
	return values
}

func (s *Schema) is(gvk schema.GroupVersionKind) bool {
	for _, k := range s.Kinds {
		if k.Group == gvk.Group && k.Version == gvk.Version && k.Kind == gvk.Kind {
			return true
		}
	}
	return false
}
