package api

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// The CustomResourceDefinitions have the same fields as the Go types.
func TestDefinitionsAreOfTheTypes(t *testing.T) {
	crds, err := CustomResourceDefinitions()
	if err != nil {
		t.Fatal(err)
	}
	types := map[string][2]reflect.Type{
		KindPodCliqueSet: {reflect.TypeFor[PodCliqueSetSpec](), reflect.TypeFor[PodCliqueSetStatus]()},
		KindPodClique:    {reflect.TypeFor[PodCliqueSpec](), reflect.TypeFor[PodCliqueStatus]()},
	}
	if len(crds) != len(types) {
		t.Errorf("%d definitions, want %d", len(crds), len(types))
	}
	for _, crd := range crds {
		of, ok := types[crd.Spec.Names.Kind]
		if !ok || crd.Spec.Group != GroupVersion.Group || crd.Spec.Versions[0].Name != GroupVersion.Version {
			t.Errorf("a definition of %s", crd.Name)
			continue
		}
		root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		compare(t, crd.Spec.Names.Kind+".spec", of[0], root.Properties["spec"])
		compare(t, crd.Spec.Names.Kind+".status", of[1], root.Properties["status"])
	}
}

// compare checks the fields of this package's types, but not those of Kubernetes' types.
func compare(t *testing.T, path string, of reflect.Type, schema apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		if of.Kind() == reflect.Slice && schema.Items != nil {
			schema = *schema.Items.Schema
		}
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of.PkgPath() != reflect.TypeFor[PodCliqueSet]().PkgPath() {
		return
	}
	var fields []string
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		fields = append(fields, name)
		if property, ok := schema.Properties[name]; ok {
			compare(t, path+"."+name, of.Field(i).Type, property)
		}
	}
	slices.Sort(fields)
	if defined := slices.Sorted(maps.Keys(schema.Properties)); !slices.Equal(fields, defined) {
		t.Errorf("%s has the fields %v, the definition has %v; run go generate ./suites/grove/api", path, fields, defined)
	}
}

// All fields of pod specs are kept, also those that this build's Go type does not have.
func TestPodSpecsAreKept(t *testing.T) {
	crds, err := CustomResourceDefinitions()
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range crds {
		spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		if crd.Spec.Names.Kind == KindPodCliqueSet {
			spec = spec.Properties["template"].Properties["cliques"].Items.Schema.Properties["spec"]
		}
		pod := spec.Properties["podSpec"]
		if pod.Type != "object" || pod.XPreserveUnknownFields == nil || !*pod.XPreserveUnknownFields {
			t.Errorf("%s: podSpec is %+v; run go generate ./suites/grove/api", crd.Name, pod)
		}
	}
}
