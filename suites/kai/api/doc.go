// Package api is the PodGroup of the KAI scheduler (scheduling.run.ai/v2alpha2) as the specification of lowercase sub
// group names requires it.
//
// +kubebuilder:object:generate=true
// +groupName=scheduling.run.ai
// +versionName=v2alpha2
package api

//go:generate go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0 object crd paths=. output:crd:dir=.
