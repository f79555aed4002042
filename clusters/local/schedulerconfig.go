package local

import (
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

// writeSchedulerConfig writes kube-scheduler's configuration and returns its content.
func (c *Cluster) writeSchedulerConfig(profiles []map[string]any) (string, error) {
	config := map[string]any{
		"apiVersion":               "kubescheduler.config.k8s.io/v1",
		"kind":                     "KubeSchedulerConfiguration",
		"clientConnection":         map[string]any{"kubeconfig": c.layout.kubeconfig(), "qps": 1000, "burst": 2000},
		"leaderElection":           map[string]any{"leaderElect": false},
		"podInitialBackoffSeconds": 1,
		"podMaxBackoffSeconds":     2,
	}
	if len(profiles) > 0 {
		config["profiles"] = profiles
	}
	data, err := yaml.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("write the configuration of kube-scheduler: %w", err)
	}
	if err := os.WriteFile(c.layout.schedulerConfig(), data, 0o600); err != nil {
		return "", fmt.Errorf("write the configuration of kube-scheduler: %w", err)
	}
	return string(data), nil
}
