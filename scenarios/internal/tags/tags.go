// Package tags lists the fields of the language's Go types, with their tags.
package tags

import (
	"reflect"
	"strings"
	"sync"
)

// Field is a field of a struct, by its name in YAML. Fields of inlined structs belong to their parent.
type Field struct {
	Name     string
	Index    []int
	Type     reflect.Type
	Required bool
	Verb     bool
	Tags     Tags
}

// Tags say how the texts in a field are used.
type Tags struct {
	// Expression is the place of a CEL expression.
	Expression string
	// Fixed: known before the run.
	Fixed bool
	// Table: it is a table of cases.
	Table bool
	// Copied: it is copied for parallel, so that there is an index.
	Copied bool
	// Filled: an expression must not make the text empty, since an empty text means another thing.
	Filled bool
}

var fieldCache sync.Map // reflect.Type -> []Field; types never change

// Of lists the fields of a struct type in their order.
func Of(t reflect.Type) []Field {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.([]Field)
	}
	var fields []Field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case f.Anonymous && name == "":
			for _, inner := range Of(f.Type) {
				inner.Index = append([]int{i}, inner.Index...)
				fields = append(fields, inner)
			}
		default:
			fields = append(fields, Field{
				Name: name, Index: []int{i}, Type: f.Type,
				Required: !strings.Contains(options, "omitempty"),
				Verb:     f.Tag.Get("verb") != "",
				Tags: Tags{
					Expression: f.Tag.Get("expression"),
					Fixed:      f.Tag.Get("fixed") != "",
					Table:      f.Tag.Get("table") != "",
					Copied:     f.Tag.Get("copied") != "",
					Filled:     f.Tag.Get("filled") != "",
				},
			})
		}
	}
	fieldCache.Store(t, fields)
	return fields
}

// Names returns the names of fields.
func Names(fields []Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// Named returns the field with a name.
func Named(fields []Field, name string) (Field, bool) {
	for _, f := range fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}
