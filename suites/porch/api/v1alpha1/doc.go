// Package v1alpha1 is the part of the API group porch.kpt.dev/v1alpha1 that the engine's rules are about.
//
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=dev.kpt.porch.v1alpha1
// +groupName=porch.kpt.dev
package v1alpha1

//go:generate go run k8s.io/code-generator/cmd/deepcopy-gen@v0.37.2 --go-header-file /dev/null --output-file zz_generated.deepcopy.go .
//go:generate go run k8s.io/kube-openapi/cmd/openapi-gen@v0.0.0-20260721132016-d427ff9ee9ad --go-header-file /dev/null --output-dir . --output-pkg github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1 --output-file zz_generated.openapi.go --output-model-name-file zz_generated.model_name.go --report-filename /dev/null .
