package api_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/suites/kai/api"
)

// The CustomResourceDefinition, which is generated and committed, has the same fields as the Go types.
func TestSchemaHasTheTypesFields(t *testing.T) {
	crd, err := api.CustomResourceDefinition()
	if err != nil {
		t.Fatal(err)
	}
	if len(crd.Spec.Versions) != 1 || crd.Spec.Versions[0].Name != api.GroupVersion.Version ||
		crd.Spec.Group != api.GroupVersion.Group {
		t.Fatalf("want the one version %s, got %+v of %s", api.GroupVersion, crd.Spec.Versions, crd.Spec.Group)
	}
	root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	for field, typ := range map[string]reflect.Type{
		"spec":   reflect.TypeFor[api.PodGroupSpec](),
		"status": reflect.TypeFor[api.PodGroupStatus](),
	} {
		compare(t, field, root.Properties[field], typ)
	}
}

func compare(t *testing.T, path string, schema apiextensionsv1.JSONSchemaProps, typ reflect.Type) {
	t.Helper()
	switch {
	case typ.Kind() == reflect.Pointer:
		compare(t, path, schema, typ.Elem())
	case typ.Kind() == reflect.Slice:
		if schema.Items == nil || schema.Items.Schema == nil {
			t.Errorf("%s: the schema of %s has no items; run go generate", path, typ)
			return
		}
		compare(t, path+"[]", *schema.Items.Schema, typ.Elem())
	case typ.Kind() == reflect.Struct && typ != reflect.TypeFor[metav1.Time]():
		compareStruct(t, path, schema, typ)
	}
}

func compareStruct(t *testing.T, path string, schema apiextensionsv1.JSONSchemaProps, typ reflect.Type) {
	t.Helper()
	var fields []string
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		fields = append(fields, name)
		compare(t, path+"."+name, schema.Properties[name], typ.Field(i).Type)
	}
	slices.Sort(fields)
	if known := slices.Sorted(maps.Keys(schema.Properties)); !slices.Equal(fields, known) {
		t.Errorf("%s: the type has the fields %v, the schema %v; run go generate", path, fields, known)
	}
}
