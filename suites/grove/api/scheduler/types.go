package scheduler

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodGang is groups of pods that are scheduled together.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type PodGang struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PodGangSpec   `json:"spec"`
	Status PodGangStatus `json:"status,omitempty"`
}

// PodGangList is a list of PodGangs.
//
// +kubebuilder:object:root=true
type PodGangList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []PodGang `json:"items"`
}

// PodGangSpec is what Grove requests from the scheduler.
type PodGangSpec struct {
	// PodGroups are the groups of pods.
	PodGroups []PodGroup `json:"podgroups"`
	// PriorityClassName of the gang.
	//
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// TopologyConstraint of the whole gang.
	//
	// +optional
	TopologyConstraint *TopologyConstraint `json:"topologyConstraint,omitempty"`
}

// PodGroup is pods of a gang that have the same spec.
type PodGroup struct {
	// Name of the group, which is also the name of its PodClique.
	Name string `json:"name"`
	// PodReferences are the group's pods. The list is empty until all of them are created.
	PodReferences []PodReference `json:"podReferences"`
	// MinReplicas is how many of the pods are scheduled together or not at all.
	MinReplicas int32 `json:"minReplicas"`
	// TopologyConstraint of the group.
	//
	// +optional
	TopologyConstraint *TopologyConstraint `json:"topologyConstraint,omitempty"`
}

// PodReference names a pod.
type PodReference struct {
	// Namespace of the pod.
	Namespace string `json:"namespace"`
	// Name of the pod.
	Name string `json:"name"`
}

// TopologyConstraint says how near to each other pods must run.
type TopologyConstraint struct {
	// PackConstraint names the levels of the topology within which the pods are packed.
	//
	// +optional
	PackConstraint *PackConstraint `json:"packConstraint,omitempty"`
}

// PackConstraint names levels of the topology.
type PackConstraint struct {
	// Required is a level that the scheduler must keep to.
	//
	// +optional
	Required string `json:"required,omitempty"`
	// Preferred is a level that the scheduler keeps to if possible.
	//
	// +optional
	Preferred string `json:"preferred,omitempty"`
}

// PodGangStatus is the progress of the gang.
type PodGangStatus struct {
	// Phase of the gang: Pending, Starting or Running.
	//
	// +optional
	Phase string `json:"phase,omitempty"`
	// Conditions of the gang.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// The types of conditions, and their reasons.
const (
	// ConditionInitialized: all pods are created, labelled and referenced, so that their gates can be removed.
	ConditionInitialized = "Initialized"
	ReasonReady          = "Ready"
	ReasonPodsPending    = "PodsPending"
	// ConditionSynced: the backend has created its resources for this generation of the gang.
	ConditionSynced = "BackendSynced"
	ReasonSynced    = "Synced"
)

// Initialized reports whether the gates of the gang's pods may be removed.
func (g *PodGang) Initialized() bool {
	return meta.IsStatusConditionTrue(g.Status.Conditions, ConditionInitialized)
}

// Synced reports whether the backend has created its resources for the gang's current generation.
func (g *PodGang) Synced() bool {
	c := meta.FindStatusCondition(g.Status.Conditions, ConditionSynced)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == g.Generation
}
