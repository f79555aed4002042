package schedulerconfig

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
)

// File returns the configuration file of a kube-scheduler. It names the kubeconfig, because kube-scheduler ignores that
// flag if it has a configuration file.
func File(component clusters.Component, kubeconfig string, elect bool, profiles []map[string]any) (string, error) {
	config := map[string]any{
		"apiVersion":               "kubescheduler.config.k8s.io/v1",
		"kind":                     "KubeSchedulerConfiguration",
		"clientConnection":         map[string]any{"kubeconfig": kubeconfig, "qps": 1000, "burst": 2000},
		"leaderElection":           map[string]any{"leaderElect": elect},
		"podInitialBackoffSeconds": 1,
		"podMaxBackoffSeconds":     2,
	}
	if len(profiles) > 0 {
		config["profiles"] = profiles
	}
	data, err := yaml.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("write the configuration of %s: %w", component, err)
	}
	return string(data), nil
}
