package manifests

import (
	"cmp"
	"slices"
)

// stages are the kinds that others need, in the order of creation. A kind that is in neither list is created after
// these, but before those in last.
var stages = [...]string{
	"Namespace", "CustomResourceDefinition", "PriorityClass", "RuntimeClass", "StorageClass", "VolumeAttributesClass",
	"CSIDriver", "IngressClass",
	"DeviceClass", "ResourceQuota", "LimitRange", "ServiceAccount", "ClusterRole", "Role", "ClusterRoleBinding",
	"RoleBinding", "Secret", "ConfigMap",
	"PersistentVolume", "PersistentVolumeClaim", "ResourceClaimTemplate", "ResourceClaim", "ServiceCIDR", "Service",
	"PodDisruptionBudget",
}

// last are the kinds that act on the writes of others.
var last = [...]string{
	"HorizontalPodAutoscaler", "APIService", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	"MutatingAdmissionPolicy",
	"MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
}

// InOrder returns the objects in an order in which they can be created. Objects of one kind keep their order.
func InOrder(objects []*Object) []*Object {
	ordered := slices.Clone(objects)
	slices.SortStableFunc(ordered, func(a, b *Object) int { return cmp.Compare(stage(a), stage(b)) })
	return ordered
}

// stage returns the position of an object's kind in the order of creation.
func stage(o *Object) int {
	kind := o.GVK().Kind
	if i := slices.Index(stages[:], kind); i >= 0 {
		return i
	}
	if i := slices.Index(last[:], kind); i >= 0 {
		return len(stages) + 1 + i
	}
	return len(stages)
}
