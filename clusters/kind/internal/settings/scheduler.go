package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
)

const SchedulerConfigName = "scheduler.yaml"

// SchedulerConfig returns kube-scheduler's configuration. It names the kubeconfig, because kube-scheduler ignores
// that flag if it has a configuration file.
func SchedulerConfig(state clusters.State) ([]byte, error) {
	config := Object{
		"apiVersion":               "kubescheduler.config.k8s.io/v1",
		"kind":                     "KubeSchedulerConfiguration",
		"clientConnection":         Object{"kubeconfig": "/etc/kubernetes/scheduler.conf", "qps": 1000, "burst": 2000},
		"leaderElection":           Object{"leaderElect": state.NumberOfControlPlanes() > 1},
		"podInitialBackoffSeconds": 1,
		"podMaxBackoffSeconds":     2,
	}
	if len(state.SchedulerProfiles) > 0 {
		config["profiles"] = state.SchedulerProfiles
	}
	data, err := yaml.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("write the configuration of kube-scheduler: %w", err)
	}
	return data, nil
}

// SchedulerRevision returns a hash of kube-scheduler's configuration.
func SchedulerRevision(state clusters.State) (string, error) {
	config, err := SchedulerConfig(state)
	sum := sha256.Sum256(config)
	return hex.EncodeToString(sum[:8]), err
}
