package api

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodGroup is pods that are scheduled together or not at all.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=pg
type PodGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what is wanted of the group.
	Spec PodGroupSpec `json:"spec,omitempty"`
	// Status is what the scheduler last said of the group.
	Status PodGroupStatus `json:"status,omitempty"`
}

// PodGroupList is a list of PodGroups.
//
// +kubebuilder:object:root=true
type PodGroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []PodGroup `json:"items"`
}

// PodGroupSpec is what is wanted of a group.
type PodGroupSpec struct {
	// MinMember is how many pods must fit before any of them is started.
	//
	// +kubebuilder:validation:Minimum=1
	MinMember int32 `json:"minMember,omitempty"`
	// Queue that the group's resources are taken from.
	Queue string `json:"queue,omitempty"`
	// PriorityClassName names the group's PriorityClass.
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// Preemptibility says whether a group of higher priority may take this one's place. Its priority decides by default.
	//
	// +kubebuilder:validation:Enum=preemptible;non-preemptible
	Preemptibility string `json:"preemptibility,omitempty"`
	// MarkUnschedulable says whether pods that do not fit get events that say so.
	MarkUnschedulable *bool `json:"markUnschedulable,omitempty"`
	// SchedulingBackoff is after how many tries the group is given up on a node pool: -1 (never) or 1.
	SchedulingBackoff *int32 `json:"schedulingBackoff,omitempty"`
	// TopologyConstraint says how near to each other the pods must run.
	TopologyConstraint TopologyConstraint `json:"topologyConstraint,omitempty"`
	// SubGroups are parts of the group, each with a minimum of its own.
	SubGroups []SubGroup `json:"subGroups,omitempty"`
}

// SubGroup is a part of a group's pods.
type SubGroup struct {
	// Name of the sub group, unique in its PodGroup. It must be lowercase and match the pattern
	// [a-z0-9]([-a-z0-9]*[a-z0-9])?: "workers", "decode-leaders", "replica-1".
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
	// MinMember is how many of the sub group's pods must fit before any pod of the group is started.
	//
	// +kubebuilder:validation:Minimum=1
	MinMember int32 `json:"minMember,omitempty"`
	// Parent names the sub group that this one is a part of. It must be one that exists, whose name is lowercase too.
	//
	// +kubebuilder:validation:Optional
	Parent *string `json:"parent,omitempty"`
	// TopologyConstraint says how near to each other the sub group's pods must run.
	TopologyConstraint *TopologyConstraint `json:"topologyConstraint,omitempty"`
}

// TopologyConstraint says how near to each other pods must run.
type TopologyConstraint struct {
	// Topology names the tree of places that the levels are of.
	Topology string `json:"topology,omitempty"`
	// PreferredTopologyLevel is the level within one place of which the pods run if they can.
	PreferredTopologyLevel string `json:"preferredTopologyLevel,omitempty"`
	// RequiredTopologyLevel is the level within one place of which the pods run, or not at all.
	RequiredTopologyLevel string `json:"requiredTopologyLevel,omitempty"`
}

// PodGroupStatus is what the scheduler last said of a group.
type PodGroupStatus struct {
	// Phase of the group.
	Phase string `json:"phase,omitempty"`
	// Pending is how many of the pods wait.
	Pending int32 `json:"pending,omitempty"`
	// Running is how many of the pods run.
	Running int32 `json:"running,omitempty"`
	// Succeeded is how many of the pods ended well.
	Succeeded int32 `json:"succeeded,omitempty"`
	// Failed is how many of the pods ended badly.
	Failed int32 `json:"failed,omitempty"`
	// SchedulingConditions say why the group could not be scheduled.
	SchedulingConditions []SchedulingCondition `json:"schedulingConditions,omitempty"`
}

// SchedulingCondition says why a group could not be scheduled on a node pool.
type SchedulingCondition struct {
	// Type of the condition.
	Type string `json:"type,omitempty"`
	// NodePool on which it is so.
	NodePool string `json:"nodePool,omitempty"`
	// Status of the condition: True, False or Unknown.
	Status corev1.ConditionStatus `json:"status,omitempty"`
	// Reason in one word.
	Reason string `json:"reason,omitempty"`
	// Message for a person.
	Message string `json:"message,omitempty"`
	// TransitionID counts the changes of the condition.
	TransitionID string `json:"transitionID,omitempty"`
	// LastTransitionTime is when it last changed.
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
}
