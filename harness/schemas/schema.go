package schemas

import (
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/openapi"
)

// Schema describes which fields an object has.
type Schema struct {
	of   openapi.Document
	root *openapi.Schema
}

// Item is the step of a path into the items of a list, or into a field whose name is computed.
const Item = "[*]"

// Unknown returns the index of the first step of a path whose field does not exist, and the fields that exist there.
// The index is -1 if an object may have the path, or if the schema does not say.
func (s *Schema) Unknown(path []string) (step int, known []string) {
	at := s.root
	for i, name := range path {
		at = s.resolved(at)
		if at == nil || at.Preserve {
			return -1, nil
		}
		switch field, there := at.Properties[name]; {
		case name == Item && at.Additional == nil:
			at = at.Items
		case at.Embedded && (name == "apiVersion" || name == "kind" || name == "metadata"):
			return -1, nil // even if the definition restricts metadata.name
		case there:
			at = field
		case at.Additional != nil:
			at = at.Values()
		case len(at.Properties) == 0:
			return -1, nil
		default:
			return i, names(at)
		}
	}
	return -1, nil
}

func names(of *openapi.Schema) []string {
	names := slices.Sorted(maps.Keys(of.Properties))
	if of.Embedded && !slices.Contains(names, "metadata") {
		names = append(names, "metadata")
	}
	return names
}

// resolved follows references. It returns nil if they lead nowhere, or to several schemas at once.
func (s *Schema) resolved(at *openapi.Schema) *openapi.Schema {
	for range 10 {
		switch {
		case at == nil:
			return nil
		case at.Ref != "":
			at = s.of.Definition(at.Target())
		case len(at.Properties) > 0 || len(at.AllOf) == 0:
			return at
		case len(at.AllOf) == 1:
			at = at.AllOf[0]
		default:
			return nil
		}
	}
	return nil
}
