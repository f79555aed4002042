package transplant

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ClustersOwn reports whether every cluster creates such an object itself, and maintains it for its version.
func ClustersOwn(o *unstructured.Unstructured) bool {
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	switch (schema.GroupKind{Group: o.GroupVersionKind().Group, Kind: o.GetKind()}).String() {
	case "ClusterRole.rbac.authorization.k8s.io", "ClusterRoleBinding.rbac.authorization.k8s.io",
		"Role.rbac.authorization.k8s.io", "RoleBinding.rbac.authorization.k8s.io":
		return labels["kubernetes.io/bootstrapping"] == "rbac-defaults"
	case "APIService.apiregistration.k8s.io":
		return labels["kube-aggregator.kubernetes.io/automanaged"] != ""
	case "FlowSchema.flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io":
		return annotations["apf.kubernetes.io/autoupdate-spec"] == "true"
	case "PriorityClass.scheduling.k8s.io":
		return strings.HasPrefix(o.GetName(), "system-")
	case "Namespace":
		return slices.Contains([]string{"default", "kube-system", "kube-public", "kube-node-lease"}, o.GetName())
	case "ServiceAccount":
		return o.GetName() == "default"
	case "ConfigMap":
		return o.GetName() == "kube-root-ca.crt" || o.GetNamespace() == "kube-system" &&
			(o.GetName() == "extension-apiserver-authentication" ||
				o.GetName() == "kube-apiserver-legacy-service-account-token-tracking")
	case "Service", "Endpoints", "EndpointSlice.discovery.k8s.io":
		return o.GetNamespace() == "default" && o.GetName() == "kubernetes"
	case "ServiceCIDR.networking.k8s.io":
		return o.GetName() == "kubernetes"
	case "IPAddress.networking.k8s.io":
		return labels["ipaddress.kubernetes.io/managed-by"] == "ipallocator.k8s.io"
	case "Lease.coordination.k8s.io":
		return o.GetNamespace() == "kube-system" || o.GetNamespace() == "kube-node-lease"
	}
	return false
}
