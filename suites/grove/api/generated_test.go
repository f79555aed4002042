package api

import (
	"reflect"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/suites/internal/simulatortest"
)

// The CustomResourceDefinitions have the same fields as the Go types.
func TestDefinitionsAreOfTheTypes(t *testing.T) {
	crds, err := CustomResourceDefinitions()
	golden.Must(t, err)
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
		simulatortest.SameFields(t, crd.Spec.Names.Kind+".spec", of[0], root.Properties["spec"])
		simulatortest.SameFields(t, crd.Spec.Names.Kind+".status", of[1], root.Properties["status"])
	}
}

// All fields of pod specs are kept, also those that this build's Go type does not have.
func TestPodSpecsAreKept(t *testing.T) {
	crds, err := CustomResourceDefinitions()
	golden.Must(t, err)
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
