package kind

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
)

const schedulerConfigName = "scheduler.yaml"

// schedulerConfig is kube-scheduler's configuration; with a configuration file its command line no longer names a kubeconfig.
func schedulerConfig(state clusters.State) ([]byte, error) {
	config := object{
		"apiVersion":               "kubescheduler.config.k8s.io/v1",
		"kind":                     "KubeSchedulerConfiguration",
		"clientConnection":         object{"kubeconfig": "/etc/kubernetes/scheduler.conf", "qps": 1000, "burst": 2000},
		"leaderElection":           object{"leaderElect": state.NumberOfControlPlanes() > 1},
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

// componentPatches are applied by kubeadm to what it writes: the probes look at once and often, and an API server that is
// replaced does not wait half a minute for its watchers to go away. kubeadm before 1.32 leaves the one for CoreDNS out.
func componentPatches() map[string]string {
	probe := object{"initialDelaySeconds": 0, "periodSeconds": 1, "failureThreshold": 240}
	patches := map[string]object{"corednsdeployment": {"spec": object{"template": object{"spec": object{"containers": []object{
		{"name": "coredns", "readinessProbe": object{"periodSeconds": 1, "failureThreshold": 30}},
	}}}}}}
	for _, c := range clusters.ControlPlane() {
		container := object{"name": string(c), "startupProbe": probe}
		spec := object{"containers": []object{container}}
		if c == clusters.APIServer {
			spec["terminationGracePeriodSeconds"] = 2
		}
		patches[string(c)] = object{"spec": spec}
	}
	files := map[string]string{}
	for target, patch := range patches {
		data, err := yaml.Marshal(patch)
		if err != nil {
			panic(err) // maps of numbers and strings
		}
		files[target+"+strategic.yaml"] = string(data)
	}
	return files
}

// writeNodeFiles writes what is mounted into every node.
func writeNodeFiles(folder string, state clusters.State) error {
	config, err := schedulerConfig(state)
	if err != nil {
		return err
	}
	files := map[string]string{filepath.Join("scheduler", schedulerConfigName): string(config)}
	for name, patch := range componentPatches() {
		files[filepath.Join("patches", name)] = patch
	}
	for name, content := range files {
		if err := writeFile(filepath.Join(folder, name), content); err != nil {
			return fmt.Errorf("write the files of the nodes: %w", err)
		}
	}
	return nil
}

// writeFile replaces a file as a whole: whoever reads meanwhile sees the old one or the new one.
func writeFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temporary := path + ".tmp"
	if err := os.WriteFile(temporary, []byte(content), 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
