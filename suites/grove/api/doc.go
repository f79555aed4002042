// Package api holds the Go types of grove.io/v1alpha1: the parts of PodCliqueSet and PodClique that GREP-375 (the
// scheduler backend framework) builds on. Scaling groups, startup orders, rolling updates and resource sharing are
// left out.
//
// +kubebuilder:object:generate=true
// +groupName=grove.io
// +versionName=v1alpha1
package api

//go:generate go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0 object crd:generateEmbeddedObjectMeta=true,maxDescLen=0 paths=. output:dir=.

import (
	"embed"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// GroupVersion is grove.io/v1alpha1.
var GroupVersion = schema.GroupVersion{Group: "grove.io", Version: "v1alpha1"}

// The kinds.
const (
	KindPodCliqueSet = "PodCliqueSet"
	KindPodClique    = "PodClique"
)

//go:embed grove.io_podcliquesets.yaml grove.io_podcliques.yaml
var definitions embed.FS

// AddToScheme registers the types in a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &PodCliqueSet{}, &PodCliqueSetList{}, &PodClique{}, &PodCliqueList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// CustomResourceDefinitions returns the definitions of the kinds, generated from their Go types. The caller may
// change them.
func CustomResourceDefinitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, file := range []string{"grove.io_podcliquesets.yaml", "grove.io_podcliques.yaml"} {
		text, err := definitions.ReadFile(file)
		if err != nil {
			return nil, err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, crd); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		all = append(all, crd)
	}
	return all, nil
}
