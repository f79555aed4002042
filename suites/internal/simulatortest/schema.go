package simulatortest

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// SameFields checks that a generated schema has the fields of a Go type, and of the types of the same package in it.
func SameFields(t testing.TB, path string, of reflect.Type, schema apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	sameFields(t, path, of, of.PkgPath(), schema)
}

func sameFields(t testing.TB, path string, of reflect.Type, own string, schema apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	switch {
	case of.Kind() == reflect.Pointer:
		sameFields(t, path, of.Elem(), own, schema)
	case of.Kind() == reflect.Slice && (schema.Items == nil || schema.Items.Schema == nil):
		t.Errorf("%s: the schema of %s has no items; run go generate", path, of)
	case of.Kind() == reflect.Slice:
		sameFields(t, path+"[]", of.Elem(), own, *schema.Items.Schema)
	case of.Kind() == reflect.Struct && of.PkgPath() == own:
		var fields []string
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			fields = append(fields, name)
			if property, ok := schema.Properties[name]; ok {
				sameFields(t, path+"."+name, of.Field(i).Type, own, property)
			}
		}
		slices.Sort(fields)
		if known := slices.Sorted(maps.Keys(schema.Properties)); !slices.Equal(fields, known) {
			t.Errorf("%s: the type has the fields %v, the schema %v; run go generate", path, fields, known)
		}
	}
}
