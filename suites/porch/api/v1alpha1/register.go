package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GroupVersion of these kinds.
var GroupVersion = schema.GroupVersion{Group: "porch.kpt.dev", Version: "v1alpha1"}

// AddToScheme registers the kinds, also as their own internal version: there is but one version to convert between.
func AddToScheme(scheme *runtime.Scheme) error {
	for _, version := range []schema.GroupVersion{
		GroupVersion,
		{Group: GroupVersion.Group, Version: runtime.APIVersionInternal},
	} {
		scheme.AddKnownTypes(version, &PackageRevision{}, &PackageRevisionList{}, &PackageRevisionResources{},
			&PackageRevisionResourcesList{})
	}
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// Resource qualifies the plural name of a resource with the group.
func Resource(name string) schema.GroupResource {
	return GroupVersion.WithResource(name).GroupResource()
}
