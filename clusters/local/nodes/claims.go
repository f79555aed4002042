package nodes

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations of kube-controller-manager, kube-scheduler and external-provisioner.
const (
	provisionerOfClaim     = "volume.kubernetes.io/storage-provisioner"
	provisionerOfClaimBeta = "volume.beta.kubernetes.io/storage-provisioner"
	selectedNode           = "volume.kubernetes.io/selected-node"
	provisionedBy          = "pv.kubernetes.io/provisioned-by"
)

func classOf(claim *corev1.PersistentVolumeClaim) string {
	if class, ok := claim.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	if claim.Spec.StorageClassName != nil {
		return *claim.Spec.StorageClassName
	}
	return ""
}

func provisionerOf(claim *corev1.PersistentVolumeClaim) string {
	if provisioner, ok := claim.Annotations[provisionerOfClaim]; ok {
		return provisioner
	}
	return claim.Annotations[provisionerOfClaimBeta]
}

// handedOver reports whether an external provisioner would make a volume for a claim. Provisioners cannot satisfy
// selectors; and some sources of data are a populator's, which makes the volume itself.
func handedOver(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) bool {
	provisioner := provisionerOf(claim)
	waits := class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
	switch {
	case claim.Status.Phase != corev1.ClaimPending || claim.Spec.VolumeName != "" || claim.Spec.Selector != nil:
		return false
	case provisioner == "" || strings.HasPrefix(provisioner, "kubernetes.io/"): // those of Kubernetes itself
		return false
	case class.Provisioner == "kubernetes.io/no-provisioner" || populated(claim.Spec.DataSourceRef):
		return false
	}
	// The scheduler takes the node back if a pod no longer fits there. The provisioner stays.
	return !waits || claim.Annotations[selectedNode] != ""
}

func populated(source *corev1.TypedObjectReference) bool {
	if source == nil {
		return false
	}
	group := ""
	if source.APIGroup != nil {
		group = *source.APIGroup
	}
	return (group != "" || source.Kind != "PersistentVolumeClaim") &&
		(group != "snapshot.storage.k8s.io" || source.Kind != "VolumeSnapshot")
}

// volumeFor returns the volume of a claim. It has no finalizer, because there is nothing to clean up.
func volumeFor(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) *corev1.PersistentVolume {
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "pvc-" + string(claim.UID),
			Annotations: map[string]string{provisionedBy: provisionerOf(claim), simulatedVolume: "true"},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes: claim.Spec.AccessModes, VolumeMode: claim.Spec.VolumeMode,
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name,
				UID: claim.UID, ResourceVersion: claim.ResourceVersion,
			},
			StorageClassName: class.Name, MountOptions: class.MountOptions,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
		},
	}
	if class.ReclaimPolicy != nil {
		volume.Spec.PersistentVolumeReclaimPolicy = *class.ReclaimPolicy
	}
	// Volumes on a host need no attachment. But only a CSI volume can have a VolumeAttributesClass.
	if attributes := claim.Spec.VolumeAttributesClassName; attributes != nil && *attributes != "" {
		volume.Spec.VolumeAttributesClassName = attributes
		volume.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: simulatedDriver, VolumeHandle: volume.Name}
	} else {
		volume.Spec.HostPath = &corev1.HostPathVolumeSource{Path: "/var/lib/rehearse/volumes/" + volume.Name}
	}
	return volume
}
