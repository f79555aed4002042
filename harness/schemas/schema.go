package schemas

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// raw is what matters here of a schema of OpenAPI v3.
type raw struct {
	Ref        string           `json:"$ref"`
	AllOf      []*raw           `json:"allOf"`
	Properties map[string]*raw  `json:"properties"`
	Items      *raw             `json:"items"`
	Additional *json.RawMessage `json:"additionalProperties"`
	Preserve   bool             `json:"x-kubernetes-preserve-unknown-fields"`
	Embedded   bool             `json:"x-kubernetes-embedded-resource"`
	Kinds      []struct {
		Group   string `json:"group"`
		Version string `json:"version"`
		Kind    string `json:"kind"`
	} `json:"x-kubernetes-group-version-kind"`
}

// document is the OpenAPI document of one version of a group, whose schemas are parsed when they are needed.
type document struct {
	texts  map[string]json.RawMessage
	parsed *sync.Map
}

func readDocument(text []byte) (document, error) {
	var all struct {
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return document{}, fmt.Errorf("read an OpenAPI document: %w", err)
	}
	return document{all.Components.Schemas, &sync.Map{}}, nil
}

// named is a schema by its name; nil when it is not there or cannot be read.
func (d document) named(name string) *raw {
	text, there := d.texts[name]
	if !there {
		return nil
	}
	if known, ok := d.parsed.Load(name); ok {
		return known.(*raw)
	}
	var r *raw
	if json.Unmarshal(text, &r) != nil {
		r = nil
	}
	d.parsed.Store(name, r)
	return r
}

// kind finds the schema of a kind; nil when there is none.
func (d document) kind(gvk schema.GroupVersionKind) *Schema {
	for name := range d.texts {
		if !strings.HasSuffix(name, "."+gvk.Kind) && name != gvk.Kind {
			continue
		}
		r := d.named(name)
		if r == nil {
			continue
		}
		for _, k := range r.Kinds {
			if k.Group == gvk.Group && k.Version == gvk.Version && k.Kind == gvk.Kind {
				return &Schema{of: d, raw: r}
			}
		}
	}
	return nil
}

// Schema says which fields an object has.
type Schema struct {
	of  document
	raw *raw
}

// Item is the step of a path that takes items of a list, or whatever a field's name is computed from.
const Item = "[*]"

// Unknown finds the first step of a path that there is no such field for, by its index, and returns the fields that
// there are; -1 when the path is one that an object may have, or where the schema does not tell.
func (s *Schema) Unknown(path []string) (step int, known []string) {
	at := s.raw
	for i, name := range path {
		at = s.resolved(at)
		if at == nil || at.Preserve {
			return -1, nil
		}
		switch field, there := at.Properties[name]; {
		case name == Item && at.Additional == nil:
			at = at.Items
		case there:
			at = field
		case at.Embedded && (name == "apiVersion" || name == "kind" || name == "metadata"):
			return -1, nil
		case at.Additional != nil:
			at = additional(*at.Additional)
		case len(at.Properties) == 0:
			return -1, nil
		default:
			return i, at.names()
		}
	}
	return -1, nil
}

func (r *raw) names() []string {
	names := slices.Sorted(maps.Keys(r.Properties))
	if r.Embedded {
		names = append(names, "metadata")
	}
	return names
}

// resolved follows references; nil when they lead nowhere, or to several schemas at once.
func (s *Schema) resolved(r *raw) *raw {
	for range 10 {
		switch {
		case r == nil:
			return nil
		case r.Ref != "":
			r = s.of.named(r.Ref[strings.LastIndex(r.Ref, "/")+1:])
		case len(r.Properties) > 0 || len(r.AllOf) == 0:
			return r
		case len(r.AllOf) == 1:
			r = r.AllOf[0]
		default:
			return nil
		}
	}
	return nil
}

// additional is the schema of the values of a map; nil when they may be anything.
func additional(text json.RawMessage) *raw {
	var r *raw
	if json.Unmarshal(text, &r) != nil {
		return nil // true or false
	}
	return r
}
