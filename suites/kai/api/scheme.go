package api

import (
	_ "embed"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// GroupVersion of the PodGroup, and its resource.
var (
	GroupVersion = schema.GroupVersion{Group: "scheduling.run.ai", Version: "v2alpha2"}
	Resource     = GroupVersion.WithResource("podgroups")
)

// AddToScheme registers the types in a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &PodGroup{}, &PodGroupList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

//go:embed scheduling.run.ai_podgroups.yaml
var crdYAML []byte

// CustomResourceDefinition returns a new copy of the PodGroup's definition, with every rule from the types' markers.
func CustomResourceDefinition() (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(crdYAML, crd); err != nil {
		return nil, fmt.Errorf("read the CustomResourceDefinition of PodGroup: %w", err)
	}
	return crd, nil
}
