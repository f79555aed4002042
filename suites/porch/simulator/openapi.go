package simulator

import (
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
)

// definitions are the schemas of all kinds that the server reads or writes. Those of meta/v1 come from another API
// server, which names them by their group, while ours are referenced by Go package.
func definitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	all := openapi.GetOpenAPIDefinitions(ref)
	own := v1alpha1.GetOpenAPIDefinitions(func(name string) spec.Ref { return ref(modelName(name)) })
	for name, definition := range own {
		for i := range definition.Dependencies {
			definition.Dependencies[i] = modelName(definition.Dependencies[i])
		}
		all[name] = definition
	}
	return all
}

func modelName(name string) string {
	if kind, found := strings.CutPrefix(name, "k8s.io/apimachinery/pkg/apis/meta/v1."); found {
		return "io.k8s.apimachinery.pkg.apis.meta.v1." + kind
	}
	return name
}
