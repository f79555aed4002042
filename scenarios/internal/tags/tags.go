// Package tags lists the fields of the language's Go types, with their tags.
package tags

import (
	"reflect"
	"strings"
	"sync"
)

// Field is a field of a struct as YAML knows it; those of inlined structs are among their parent's.
type Field struct {
	Name     string
	Index    []int
	Type     reflect.Type
	Required bool
	Verb     bool
	Tags     Tags
}

// Tags say what the texts below a field are.
type Tags struct {
	// Expression is the place of a CEL expression.
	Expression string
	// Fixed before the run.
	Fixed bool
	// Table of cases.
	Table bool
	// Copied for parallel, so that there is an index.
	Copied bool
}

var fieldCache sync.Map // reflect.Type -> []field; what types are never changes

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
				},
			})
		}
	}
	fieldCache.Store(t, fields)
	return fields
}

// Names are the names of fields.
func Names(fields []Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// Named is the field of a name.
func Named(fields []Field, name string) (Field, bool) {
	for _, f := range fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}
