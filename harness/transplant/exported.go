package transplant

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Exported returns an object of another cluster, such as the output of kubectl get, as a new cluster can have it: as it
// is, without what only its own cluster has, such as its UID, its owners, its addresses and the volume of its claim.
func Exported(o *unstructured.Unstructured) *unstructured.Unstructured {
	m := withoutServersFields(o)
	unstructured.RemoveNestedField(m.Object, "metadata", "ownerReferences")
	without(m, "annotations", func(name string) bool { return name == corev1.LastAppliedConfigAnnotation })
	switch m.GroupVersionKind().GroupKind().String() {
	case "Service":
		withoutAddresses(m)
	case "PersistentVolumeClaim":
		withoutVolume(m)
	case "PersistentVolume":
		withoutPlace(m)
	case "Secret":
		withoutToken(m)
	}
	return m
}

// withoutAddresses removes the addresses that another cluster gave a Service: a new cluster has its own range.
func withoutAddresses(service *unstructured.Unstructured) {
	unstructured.RemoveNestedField(service.Object, "spec", "ipFamilies")
	if ip, _, _ := unstructured.NestedString(service.Object, "spec", "clusterIP"); ip != corev1.ClusterIPNone {
		unstructured.RemoveNestedField(service.Object, "spec", "clusterIP")
		unstructured.RemoveNestedField(service.Object, "spec", "clusterIPs")
	}
}

// withoutVolume makes a claim that is bound an unbound one. A claim that says it is bound, to a volume that does not
// know its UID, is lost.
func withoutVolume(claim *unstructured.Unstructured) {
	unstructured.RemoveNestedField(claim.Object, "spec", "volumeName")
	without(claim, "annotations", func(name string) bool {
		return strings.HasPrefix(name, "pv.kubernetes.io/") || name == "volume.kubernetes.io/selected-node" ||
			strings.HasSuffix(name, "kubernetes.io/storage-provisioner")
	})
}

// withoutPlace makes a volume available on every node: nodes have other names and zones here. A volume of the type
// local must name nodes.
func withoutPlace(volume *unstructured.Unstructured) {
	without(volume, "labels", func(name string) bool {
		return slices.Contains([]string{
			corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
			corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
		}, name)
	})
	unstructured.RemoveNestedField(volume.Object, "spec", "nodeAffinity")
	spec, _ := volume.Object["spec"].(map[string]any)
	if _, local := spec["local"]; local {
		spec["nodeAffinity"] = map[string]any{"required": map[string]any{"nodeSelectorTerms": []any{
			map[string]any{"matchExpressions": []any{
				map[string]any{"key": corev1.LabelHostname, "operator": "Exists"},
			}},
		}}}
	}
}

// withoutToken removes another cluster's token from a Secret with the token of a service account. A controller fills it
// in, and would delete a Secret with the UID of another service account.
func withoutToken(secret *unstructured.Unstructured) {
	kind, _, _ := unstructured.NestedString(secret.Object, "type")
	if kind != string(corev1.SecretTypeServiceAccountToken) {
		return
	}
	for _, key := range []string{
		corev1.ServiceAccountTokenKey, corev1.ServiceAccountRootCAKey, corev1.ServiceAccountNamespaceKey,
	} {
		unstructured.RemoveNestedField(secret.Object, "data", key)
	}
	without(secret, "annotations", func(name string) bool { return name == corev1.ServiceAccountUIDKey })
}

// without removes labels or annotations.
func without(o *unstructured.Unstructured, field string, which func(name string) bool) {
	all, _, _ := unstructured.NestedMap(o.Object, "metadata", field)
	maps.DeleteFunc(all, func(name string, _ any) bool { return which(name) })
	if len(all) == 0 {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
		return
	}
	metadata, _ := o.Object["metadata"].(map[string]any)
	metadata[field] = all
}
