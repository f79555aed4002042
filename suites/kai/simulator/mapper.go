package simulator

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/suites/kai/api"
)

// mapper knows the resources that the simulator writes.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{
		admissionregistrationv1.SchemeGroupVersion, apiextensionsv1.SchemeGroupVersion, api.GroupVersion,
	})
	m.Add(admissionregistrationv1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration"), meta.RESTScopeRoot)
	m.Add(admissionregistrationv1.SchemeGroupVersion.WithKind("MutatingWebhookConfiguration"), meta.RESTScopeRoot)
	m.Add(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"), meta.RESTScopeRoot)
	m.Add(api.GroupVersion.WithKind("PodGroup"), meta.RESTScopeNamespace)
	return m
}
