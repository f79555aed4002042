package api

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// LeaderWorkerSet is a number of groups of pods from one template. Each group has one leader and its workers.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=lws
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.hpaPodSelector
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=.status.readyReplicas
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=.spec.replicas
// +kubebuilder:printcolumn:name="Up-to-date",type=integer,JSONPath=.status.updatedReplicas
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=.metadata.creationTimestamp
type LeaderWorkerSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   LeaderWorkerSetSpec   `json:"spec,omitempty"`
	Status LeaderWorkerSetStatus `json:"status,omitempty"`
}

// LeaderWorkerSetList is a list of LeaderWorkerSets.
//
// +kubebuilder:object:root=true
type LeaderWorkerSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []LeaderWorkerSet `json:"items"`
}

// LeaderWorkerSetSpec is the desired state of a LeaderWorkerSet.
type LeaderWorkerSetSpec struct {
	// Replicas is the number of groups.
	//
	// +optional
	// +kubebuilder:default=1
	Replicas *int32 `json:"replicas,omitempty"`
	// LeaderWorkerTemplate describes one group.
	LeaderWorkerTemplate LeaderWorkerTemplate `json:"leaderWorkerTemplate"`
	// RolloutStrategy says how a change of the groups is rolled out.
	//
	// +optional
	// +kubebuilder:default={type: RollingUpdate, rollingUpdateConfiguration: {maxUnavailable: 1, maxSurge: 0}}
	RolloutStrategy RolloutStrategy `json:"rolloutStrategy,omitempty"`
	// StartupPolicy says when a group's workers are created.
	//
	// +optional
	// +kubebuilder:default=LeaderCreated
	StartupPolicy StartupPolicy `json:"startupPolicy,omitempty"`
	// NetworkConfig says how the pods of the groups find each other.
	//
	// +optional
	NetworkConfig *NetworkConfig `json:"networkConfig,omitempty"`
}

// LeaderWorkerTemplate describes one group.
type LeaderWorkerTemplate struct {
	// LeaderTemplate is the template of the leader's pod. Default: WorkerTemplate. CustomResourceDefinition gives it the
	// schema of WorkerTemplate.
	//
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	LeaderTemplate *corev1.PodTemplateSpec `json:"leaderTemplate,omitempty"`
	// WorkerTemplate is the template of the workers' pods.
	WorkerTemplate corev1.PodTemplateSpec `json:"workerTemplate"`
	// Size is the number of pods of a group, including its leader.
	//
	// +optional
	// +kubebuilder:default=1
	Size *int32 `json:"size,omitempty"`
	// RestartPolicy says what a restart of one pod does to its group.
	//
	// +optional
	// +kubebuilder:default=RecreateGroupOnPodRestart
	RestartPolicy RestartPolicy `json:"restartPolicy,omitempty"`
}

// RestartPolicy says what a restart of one pod does to its group.
//
// +kubebuilder:validation:Enum=RecreateGroupOnPodRestart;None
type RestartPolicy string

// The restart policies.
const (
	// RecreateGroupOnPodRestart recreates the whole group when one of its containers restarts or one of its pods is
	// deleted.
	RecreateGroupOnPodRestart RestartPolicy = "RecreateGroupOnPodRestart"
	// RestartNone does not change the other pods.
	RestartNone RestartPolicy = "None"
)

// StartupPolicy says when a group's workers are created.
//
// +kubebuilder:validation:Enum=LeaderCreated;LeaderReady
type StartupPolicy string

// The startup policies.
const (
	LeaderCreated StartupPolicy = "LeaderCreated"
	LeaderReady   StartupPolicy = "LeaderReady"
)

// RolloutStrategy says how a change of the groups is rolled out.
type RolloutStrategy struct {
	// Type of the strategy.
	//
	// +kubebuilder:default=RollingUpdate
	Type RolloutStrategyType `json:"type,omitempty"`
	// RollingUpdateConfiguration has the options of RollingUpdate.
	//
	// +optional
	RollingUpdateConfiguration *RollingUpdateConfiguration `json:"rollingUpdateConfiguration,omitempty"`
}

// RolloutStrategyType is the kind of a rollout.
//
// +kubebuilder:validation:Enum=RollingUpdate
type RolloutStrategyType string

// RollingUpdate replaces the groups in descending order of their indexes.
const RollingUpdate RolloutStrategyType = "RollingUpdate"

// RollingUpdateConfiguration has the options of RollingUpdate.
type RollingUpdateConfiguration struct {
	// Partition is the index below which groups are not updated.
	//
	// +optional
	// +kubebuilder:default=0
	Partition *int32 `json:"partition,omitempty"`
	// MaxUnavailable is how many groups may be unavailable during a rollout: a number, or a percentage of the replicas,
	// rounded down.
	//
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:default=1
	MaxUnavailable intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// MaxSurge is how many groups may exist beyond the replicas during a rollout: a number, or a percentage of the
	// replicas, rounded up.
	//
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:default=0
	MaxSurge intstr.IntOrString `json:"maxSurge,omitempty"`
}

// NetworkConfig says how the pods of the groups find each other.
type NetworkConfig struct {
	// SubdomainPolicy says which headless Services exist. Default: Shared.
	//
	// +optional
	SubdomainPolicy *SubdomainPolicy `json:"subdomainPolicy,omitempty"`
}

// SubdomainPolicy says which headless Services exist.
//
// +kubebuilder:validation:Enum=Shared;UniquePerReplica
type SubdomainPolicy string

// The subdomain policies.
const (
	// SubdomainShared is one headless Service for all groups: my-lws-1-2.my-lws.
	SubdomainShared SubdomainPolicy = "Shared"
	// SubdomainUniquePerReplica is a headless Service for each group: my-lws-1-2.my-lws-1.
	SubdomainUniquePerReplica SubdomainPolicy = "UniquePerReplica"
)

// LeaderWorkerSetStatus is the observed state of a LeaderWorkerSet.
type LeaderWorkerSetStatus struct {
	// Conditions are Available, Progressing and UpdateInProgress.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ReadyReplicas is the number of groups whose pods are all ready.
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`
	// UpdatedReplicas is the number of groups of the newest revision.
	UpdatedReplicas int32 `json:"updatedReplicas,omitempty"`
	// Replicas is the number of existing groups.
	Replicas int32 `json:"replicas,omitempty"`
	// HPAPodSelector selects the leaders, for a HorizontalPodAutoscaler.
	HPAPodSelector string `json:"hpaPodSelector,omitempty"`
}

// The types of conditions.
const (
	ConditionAvailable        = "Available"
	ConditionProgressing      = "Progressing"
	ConditionUpdateInProgress = "UpdateInProgress"
)
