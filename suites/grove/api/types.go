package api

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodCliqueSet is a number of like gangs of pods, each of one or more cliques.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=pcs
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas
type PodCliqueSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PodCliqueSetSpec   `json:"spec"`
	Status PodCliqueSetStatus `json:"status,omitempty"`
}

// PodCliqueSetList is a list of them.
//
// +kubebuilder:object:root=true
type PodCliqueSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []PodCliqueSet `json:"items"`
}

// PodCliqueSetSpec is what is wanted.
type PodCliqueSetSpec struct {
	// Replicas is the number of gangs.
	//
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	Replicas int32 `json:"replicas,omitempty"`
	// Template describes one gang.
	Template PodCliqueSetTemplateSpec `json:"template"`
}

// PodCliqueSetTemplateSpec describes one gang.
type PodCliqueSetTemplateSpec struct {
	// Cliques that make up the gang, at least one.
	//
	// +listType=map
	// +listMapKey=name
	Cliques []PodCliqueTemplateSpec `json:"cliques"`
	// PriorityClassName of the gang.
	//
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// TopologyConstraint says how near to each other the gang's pods must run.
	//
	// +optional
	TopologyConstraint *TopologyConstraint `json:"topologyConstraint,omitempty"`
}

// PodCliqueTemplateSpec describes a clique.
type PodCliqueTemplateSpec struct {
	// Name of the clique, unique in its PodCliqueSet.
	//
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
	// Labels of the clique and its pods.
	//
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations of the clique and its pods.
	//
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// TopologyConstraint says how near to each other the clique's pods must run.
	//
	// +optional
	TopologyConstraint *TopologyConstraint `json:"topologyConstraint,omitempty"`
	// Spec of the clique.
	Spec PodCliqueSpec `json:"spec"`
}

// TopologyConstraint says how near to each other pods must run.
type TopologyConstraint struct {
	// Pack says within which level of the topology the pods are packed.
	//
	// +optional
	Pack *TopologyPack `json:"pack,omitempty"`
}

// TopologyPack names levels of the topology: rack, host.
type TopologyPack struct {
	// Required is the level within one place of which the pods run, or not at all.
	//
	// +optional
	Required string `json:"required,omitempty"`
	// Preferred is the level within one place of which the pods run if they can.
	//
	// +optional
	Preferred string `json:"preferred,omitempty"`
}

// PodClique is like pods that have a role in a gang.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=pclq
// +kubebuilder:subresource:status
type PodClique struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PodCliqueSpec   `json:"spec"`
	Status PodCliqueStatus `json:"status,omitempty"`
}

// PodCliqueList is a list of them.
//
// +kubebuilder:object:root=true
type PodCliqueList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []PodClique `json:"items"`
}

// PodCliqueSpec is what is wanted of a clique.
type PodCliqueSpec struct {
	// RoleName is the role that the pods have.
	//
	// +optional
	RoleName string `json:"roleName,omitempty"`
	// PodSpec of the pods. The API server judges it when they are created.
	//
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	PodSpec corev1.PodSpec `json:"podSpec"`
	// Replicas is the number of pods.
	//
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	Replicas int32 `json:"replicas,omitempty"`
	// MinAvailable is how many of the pods are placed together or not at all; all of them unless given.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	MinAvailable *int32 `json:"minAvailable,omitempty"`
}

// MinReplicas is how many of the clique's pods are placed together, with its default.
func (s *PodCliqueSpec) MinReplicas() int32 {
	if s.MinAvailable == nil {
		return s.Replicas
	}
	return min(*s.MinAvailable, s.Replicas)
}

// PodCliqueSetStatus is what there is.
type PodCliqueSetStatus struct {
	// ObservedGeneration is the newest that the operator has seen.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Replicas is the number of gangs that there are.
	//
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// Conditions of the PodCliqueSet.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PodCliqueStatus is what there is.
type PodCliqueStatus struct {
	// Replicas is the number of pods.
	//
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// ScheduleGatedReplicas is the number of pods with a scheduling gate.
	//
	// +optional
	ScheduleGatedReplicas int32 `json:"scheduleGatedReplicas,omitempty"`
	// ScheduledReplicas is the number of pods that have a node.
	//
	// +optional
	ScheduledReplicas int32 `json:"scheduledReplicas,omitempty"`
}

// The condition of a PodCliqueSet that says whether its backend can do all that it asks for, and the reason why not.
const (
	ConditionFeaturesSupported = "SchedulerFeaturesSupported"
	ReasonSupported            = "Supported"
	ReasonUnsupported          = "Unsupported"
)

// TopologyConstraints are those of the whole gang and of each clique.
func (s *PodCliqueSet) TopologyConstraints() []*TopologyConstraint {
	var all []*TopologyConstraint
	if c := s.Spec.Template.TopologyConstraint; c != nil {
		all = append(all, c)
	}
	for i := range s.Spec.Template.Cliques {
		if c := s.Spec.Template.Cliques[i].TopologyConstraint; c != nil {
			all = append(all, c)
		}
	}
	return all
}
