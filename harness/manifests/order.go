package manifests

import (
	"cmp"
	"slices"
)

// stages are the kinds that others need, in the order in which they are created. A kind that is not named is created
// after all of them, but before the last ones.
var stages = [...]string{
	"Namespace", "CustomResourceDefinition", "PriorityClass", "RuntimeClass", "StorageClass", "VolumeAttributesClass",
	"CSIDriver", "IngressClass",
	"DeviceClass", "ResourceQuota", "LimitRange", "ServiceAccount", "ClusterRole", "Role", "ClusterRoleBinding",
	"RoleBinding", "Secret", "ConfigMap",
	"PersistentVolume", "PersistentVolumeClaim", "ResourceClaimTemplate", "ResourceClaim", "Service",
	"PodDisruptionBudget",
}

// last are the kinds that act on the writes of others.
var last = [...]string{
	"HorizontalPodAutoscaler", "APIService", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	"MutatingAdmissionPolicy",
	"MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
}

// InOrder returns the objects in the order in which they can be created; those of one kind keep theirs.
func InOrder(objects []*Object) []*Object {
	ordered := slices.Clone(objects)
	slices.SortStableFunc(ordered, func(a, b *Object) int { return cmp.Compare(Stage(a), Stage(b)) })
	return ordered
}

// Stage is a number that grows from what others need to what acts on others.
func Stage(o *Object) int {
	kind := o.GVK().Kind
	if i := slices.Index(stages[:], kind); i >= 0 {
		return i
	}
	if i := slices.Index(last[:], kind); i >= 0 {
		return len(stages) + 1 + i
	}
	return len(stages)
}
