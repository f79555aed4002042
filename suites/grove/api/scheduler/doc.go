// Package scheduler holds the Go type of scheduler.grove.io/v1alpha1: PodGang, Grove's request to a scheduler.
//
// +kubebuilder:object:generate=true
// +groupName=scheduler.grove.io
// +versionName=v1alpha1
package scheduler

//go:generate go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0 object crd:maxDescLen=0 paths=. output:dir=.

import (
	_ "embed"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// GroupVersion is scheduler.grove.io/v1alpha1.
var GroupVersion = schema.GroupVersion{Group: "scheduler.grove.io", Version: "v1alpha1"}

// KindPodGang is the kind.
const KindPodGang = "PodGang"

//go:embed scheduler.grove.io_podgangs.yaml
var definition []byte

// AddToScheme registers the type in a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &PodGang{}, &PodGangList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// CustomResourceDefinition returns the definition of the kind, generated from its Go type. The caller may change it.
func CustomResourceDefinition() (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(definition, crd); err != nil {
		return nil, fmt.Errorf("read the definition of %s: %w", KindPodGang, err)
	}
	return crd, nil
}
