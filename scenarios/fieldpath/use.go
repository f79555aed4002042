package fieldpath

import (
	"maps"
	"slices"
	"strings"
)

// AnyItem is the step of a field's path that takes an item of a list, or a field whose name is computed.
const AnyItem = "[*]"

// Use is a field of an object that an expression, or a partial object, looks at.
type Use struct {
	// Path from the object: [status containerStatuses [*] ready].
	Path []string
	// Optional: the field may be missing.
	Optional bool
}

// String writes the path: status.containerStatuses[*].ready.
func (f Use) String() string {
	return strings.ReplaceAll(strings.Join(f.Path, "."), ".[*]", "[*]")
}

// Matched lists the fields that a partial object compares.
func Matched(match map[string]any) []Use { return matchedFields(match, nil) }

func matchedFields(value any, at []string) []Use {
	var fields []Use
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if !strings.Contains(name, "${") {
				fields = append(fields, matchedFields(value[name], append(slices.Clone(at), name))...)
			}
		}
		if len(value) > 0 {
			return fields
		}
	case []any:
		for _, item := range value {
			fields = append(fields, matchedFields(item, append(slices.Clone(at), AnyItem))...)
		}
		if len(value) > 0 {
			return fields
		}
		return nil
	case nil:
		return nil // null means that the field must be missing
	}
	return []Use{{Path: at}}
}

// Fields lists the steps of the path.
func (p Path) Fields() Use {
	var use Use
	for _, step := range p {
		if step.kind == byName {
			use.Path = append(use.Path, step.name)
		} else {
			use.Path = append(use.Path, AnyItem)
		}
	}
	return use
}
