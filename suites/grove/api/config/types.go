// Package config is the OperatorConfiguration that Grove's operator is started with: which scheduler backends there
// are, how each is set up, and which is the default.
package config

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// The names of schedulers. KubeScheduler and DefaultScheduler are the same one.
const (
	// KAIScheduler is the KAI scheduler.
	KAIScheduler = "kai-scheduler"
	// DefaultScheduler is the name of Kubernetes' own scheduler in pods.
	DefaultScheduler = "default-scheduler"
	// KubeScheduler is the name of Kubernetes' own scheduler in the examples of GREP-375.
	KubeScheduler = "kube-scheduler"
)

// OperatorConfiguration is the operator's configuration at its start.
type OperatorConfiguration struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	// Scheduler says which backends are active.
	Scheduler SchedulerConfiguration `json:"scheduler,omitempty"`
	// TopologyAwareScheduling says whether topology constraints may be used.
	TopologyAwareScheduling TopologyAwareScheduling `json:"topologyAwareScheduling,omitempty"`
}

// SchedulerConfiguration says which backends are active, and which is the default.
type SchedulerConfiguration struct {
	// Profiles of backends. Kubernetes' own scheduler is enabled even if no profile names it.
	Profiles []SchedulerProfile `json:"profiles,omitempty"`
	// DefaultProfileName names the default backend. Only upstream has this field; in GREP-375, profiles have the field
	// default instead.
	DefaultProfileName string `json:"defaultProfileName,omitempty"`
}

// SchedulerProfile is a backend, with its options.
type SchedulerProfile struct {
	// Name of the scheduler.
	Name string `json:"name"`
	// Config has the backend's options, which only the backend reads.
	Config *runtime.RawExtension `json:"config,omitempty"`
	// Default: this is the backend of workloads that name no scheduler.
	Default bool `json:"default,omitempty"`
}

// TopologyAwareScheduling says whether topology constraints may be used.
type TopologyAwareScheduling struct {
	// Enabled lets PodCliqueSets have topology constraints.
	Enabled bool `json:"enabled,omitempty"`
}
