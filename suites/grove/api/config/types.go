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
	// DefaultScheduler is Kubernetes' own, as pods call it.
	DefaultScheduler = "default-scheduler"
	// KubeScheduler is Kubernetes' own, as the examples of GREP-375 call it.
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
	// Profiles of backends. Kubernetes' own scheduler is there even if no profile names it.
	Profiles []SchedulerProfile `json:"profiles,omitempty"`
	// DefaultProfileName names the default where profiles have no field default: upstream's way, and not GREP-375's.
	DefaultProfileName string `json:"defaultProfileName,omitempty"`
}

// SchedulerProfile is a backend, with its options.
type SchedulerProfile struct {
	// Name of the scheduler.
	Name string `json:"name"`
	// Config is for the backend alone to read.
	Config *runtime.RawExtension `json:"config,omitempty"`
	// Default says that workloads that name no scheduler belong to this backend.
	Default bool `json:"default,omitempty"`
}

// TopologyAwareScheduling says whether topology constraints may be used.
type TopologyAwareScheduling struct {
	// Enabled lets PodCliqueSets have topology constraints.
	Enabled bool `json:"enabled,omitempty"`
}
