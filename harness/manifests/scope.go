package manifests

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ClusterScoped returns the kinds of Kubernetes itself that have no namespaces.
func ClusterScoped() map[schema.GroupKind]bool {
	all := map[schema.GroupKind]bool{}
	for group, kinds := range map[string]string{
		"": "Namespace Node PersistentVolume",
		"admissionregistration.k8s.io": "MutatingWebhookConfiguration ValidatingWebhookConfiguration " +
			"ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy MutatingAdmissionPolicyBinding",
		"apiextensions.k8s.io":         "CustomResourceDefinition",
		"apiregistration.k8s.io":       "APIService",
		"certificates.k8s.io":          "CertificateSigningRequest ClusterTrustBundle",
		"flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
		"internal.apiserver.k8s.io":    "StorageVersion",
		"networking.k8s.io":            "IngressClass IPAddress ServiceCIDR",
		"node.k8s.io":                  "RuntimeClass",
		"rbac.authorization.k8s.io":    "ClusterRole ClusterRoleBinding",
		"resource.k8s.io":              "DeviceClass ResourceSlice DeviceTaintRule ResourcePoolStatusRequest",
		"scheduling.k8s.io":            "PriorityClass",
		"storage.k8s.io":               "StorageClass CSIDriver CSINode VolumeAttachment VolumeAttributesClass",
		"storagemigration.k8s.io":      "StorageVersionMigration",
	} {
		for _, kind := range strings.Fields(kinds) {
			all[schema.GroupKind{Group: group, Kind: kind}] = true
		}
	}
	return all
}
