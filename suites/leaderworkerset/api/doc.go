// Package api holds the Go types of leaderworkerset.x-k8s.io/v1: the part of that API that KEP-173 (a headless
// Service per replica) builds on. Subgroups, exclusive topologies and volume claims are left out.
//
// +kubebuilder:object:generate=true
// +groupName=leaderworkerset.x-k8s.io
// +versionName=v1
package api

//go:generate go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0 object crd:generateEmbeddedObjectMeta=true,maxDescLen=0 paths=. output:dir=.

import (
	_ "embed"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// The API's group and version, and the kind's names.
const (
	Group    = "leaderworkerset.x-k8s.io"
	Version  = "v1"
	Kind     = "LeaderWorkerSet"
	Resource = "leaderworkersets"
)

// GroupVersion is leaderworkerset.x-k8s.io/v1.
var GroupVersion = schema.GroupVersion{Group: Group, Version: Version}

//go:embed leaderworkerset.x-k8s.io_leaderworkersets.yaml
var definition []byte

// AddToScheme registers the types in a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &LeaderWorkerSet{}, &LeaderWorkerSetList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// CustomResourceDefinition returns the definition of the kind, generated from its Go type. The caller may change it.
func CustomResourceDefinition() (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(definition, crd); err != nil {
		return nil, fmt.Errorf("read the definition of %s: %w", Kind, err)
	}
	// The file contains the schema of a pod's template only once.
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	templates := spec.Properties["leaderWorkerTemplate"].Properties
	worker := templates["workerTemplate"]
	templates["leaderTemplate"] = *worker.DeepCopy()
	return crd, nil
}
