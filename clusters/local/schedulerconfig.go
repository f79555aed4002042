package local

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
)

// schedulerProfiles are the profiles that the state has for one of its kube-schedulers.
func schedulerProfiles(state clusters.State, component clusters.Component) []map[string]any {
	for _, scheduler := range state.Schedulers {
		if scheduler.Component() == component {
			return scheduler.AllProfiles()
		}
	}
	return state.SchedulerProfiles
}

// schedulerConfig is the content of the configuration file of a kube-scheduler.
func schedulerConfig(l layout, component clusters.Component, profiles []map[string]any) (string, error) {
	config := map[string]any{
		"apiVersion":               "kubescheduler.config.k8s.io/v1",
		"kind":                     "KubeSchedulerConfiguration",
		"clientConnection":         map[string]any{"kubeconfig": l.kubeconfigOf(component), "qps": 1000, "burst": 2000},
		"leaderElection":           map[string]any{"leaderElect": false},
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
