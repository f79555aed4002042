package api

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodCliqueSet is a number of gangs of pods from one template. Each gang has one or more cliques.
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

// PodCliqueSetList is a list of PodCliqueSets.
//
// +kubebuilder:object:root=true
type PodCliqueSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []PodCliqueSet `json:"items"`
}

// PodCliqueSetSpec is the desired state of a PodCliqueSet.
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
	// Required is a level of the topology: all pods run in one place of that level, or none runs.
	//
	// +optional
	Required string `json:"required,omitempty"`
	// Preferred is a level of the topology: the pods run in one place of that level if possible.
	//
	// +optional
	Preferred string `json:"preferred,omitempty"`
}

// PodClique is the pods of one role in a gang. They have the same spec.
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

// PodCliqueList is a list of PodCliques.
//
// +kubebuilder:object:root=true
type PodCliqueList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []PodClique `json:"items"`
}

// PodCliqueSpec is the desired state of a PodClique.
type PodCliqueSpec struct {
	// RoleName is the role of the pods.
	//
	// +optional
	RoleName string `json:"roleName,omitempty"`
	// PodSpec of the pods. The API server validates it when the pods are created.
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
	// MinAvailable is how many of the pods are placed together or not at all. Default: all of them.
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

// PodCliqueSetStatus is the observed state of a PodCliqueSet.
type PodCliqueSetStatus struct {
	// ObservedGeneration is the newest generation that the operator has seen.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Replicas is the number of existing gangs.
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

// PodCliqueStatus is the observed state of a PodClique.
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

// The condition that reports whether the backend supports everything that a PodCliqueSet requests, and its reasons.
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
