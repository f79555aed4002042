package api_test

import (
	"reflect"
	"testing"

	"github.com/rehearse-dev/rehearse/suites/internal/simulatortest"
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
		simulatortest.SameFields(t, field, typ, root.Properties[field])
	}
}
