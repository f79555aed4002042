package scenarios

import (
	"reflect"
	"strings"
	"sync"
)

// field is a field of a struct as YAML knows it; those of inlined structs are among their parent's.
type field struct {
	name     string
	index    []int
	typ      reflect.Type
	required bool
	verb     bool
	tags     fieldTags
}

// fieldTags say what the texts below a field are.
type fieldTags struct {
	// expression is the place of a CEL expression.
	expression string
	// fixed before the run.
	fixed bool
	// table of cases.
	table bool
	// copied for parallel, so that there is an index.
	copied bool
}

var fieldCache sync.Map // reflect.Type -> []field; what types are never changes

// fieldsOf lists the fields of a struct type in their order.
func fieldsOf(t reflect.Type) []field {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.([]field)
	}
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case f.Anonymous && name == "":
			for _, inner := range fieldsOf(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				fields = append(fields, inner)
			}
		default:
			fields = append(fields, field{
				name: name, index: []int{i}, typ: f.Type,
				required: !strings.Contains(options, "omitempty"),
				verb:     f.Tag.Get("verb") != "",
				tags: fieldTags{
					expression: f.Tag.Get("expression"),
					fixed:      f.Tag.Get("fixed") != "",
					table:      f.Tag.Get("table") != "",
					copied:     f.Tag.Get("copied") != "",
				},
			})
		}
	}
	fieldCache.Store(t, fields)
	return fields
}

func fieldNames(fields []field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

func fieldNamed(fields []field, name string) (field, bool) {
	for _, f := range fields {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

// verbFields lists the verbs of a step.
func verbFields() []field {
	var verbs []field
	for _, f := range fieldsOf(reflect.TypeFor[Step]()) {
		if f.verb {
			verbs = append(verbs, f)
		}
	}
	return verbs
}
