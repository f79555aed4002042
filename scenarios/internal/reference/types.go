package reference

import (
	"iter"
	"reflect"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// declared is a field of a struct together with the type that declares it.
type declared struct {
	reflect.StructField
	owner reflect.Type
}

// fields yields the fields of a struct as YAML knows them, with the inlined ones.
func fields(t reflect.Type) iter.Seq[declared] {
	return func(yield func(declared) bool) { walk(t, yield) }
}

func walk(t reflect.Type, yield func(declared) bool) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		name := jsonName(declared{f, t})
		switch {
		case name == "-" || !f.IsExported():
		case f.Anonymous && name == "":
			if !walk(f.Type, yield) {
				return false
			}
		default:
			if !yield(declared{f, t}) {
				return false
			}
		}
	}
	return true
}

func jsonName(f declared) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func required(f declared) bool { return !strings.Contains(f.Tag.Get("json"), "omitempty") }

// verbs lists the verbs of a step in their order.
func verbs() []string {
	var names []string
	for f := range fields(reflect.TypeFor[scenarios.Step]()) {
		if f.Tag.Get("verb") != "" {
			names = append(names, jsonName(f))
		}
	}
	return names
}
