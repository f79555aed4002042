package transplant

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// owners are the workloads in the data that may own others, by uid, each with its own owner; nil if it has none.
type owners map[types.UID]*metav1.OwnerReference

// owning are the folders of such workloads, and owned the folders of what they own.
var (
	owning = []string{
		"controllers/", "cronjobs/", "daemonsets/", "deployments/", "jobs/", "replicasets/", "statefulsets/",
	}
	owned = []string{"controllerrevisions/", "jobs/", "pods/", "replicasets/"}

	ownerKinds = []string{
		"CronJob", "DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet",
	}
	ownerVersions = []string{"apps/v1", "batch/v1", "v1"}
)

// add adds an object, if it is such a workload.
func (all owners) add(folder string, o *unstructured.Unstructured) {
	if slices.Contains(owning, folder) {
		all[o.GetUID()] = metav1.GetControllerOf(o)
	}
}

// lack reports whether the workload that owns an object is not in the data: it was deleted while the cluster was read.
// Then the cluster deletes the object, too.
func (all owners) lack(o *unstructured.Unstructured) bool {
	by := metav1.GetControllerOf(o)
	for range len(owning) { // owners may form a cycle
		if by == nil || !slices.Contains(ownerKinds, by.Kind) || !slices.Contains(ownerVersions, by.APIVersion) {
			return false
		}
		next, there := all[by.UID]
		if !there {
			return true
		}
		by = next
	}
	return false
}
