package settings

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
)

// componentPatches returns the patches that kubeadm applies to its manifests: probes start at once and run often, and
// a replaced API server does not wait half a minute for its watchers to disconnect. kubeadm before 1.32 ignores the
// patch for CoreDNS.
func componentPatches() map[string]string {
	probe := Object{"initialDelaySeconds": 0, "periodSeconds": 1, "failureThreshold": 240}
	coreDNS := Object{"containers": []Object{
		{"name": "coredns", "readinessProbe": Object{"periodSeconds": 1, "failureThreshold": 30}},
	}}
	patches := map[string]Object{"corednsdeployment": {"spec": Object{"template": Object{"spec": coreDNS}}}}
	for _, c := range clusters.ControlPlane() {
		container := Object{"name": string(c), "startupProbe": probe}
		spec := Object{"containers": []Object{container}}
		if c == clusters.APIServer {
			spec["terminationGracePeriodSeconds"] = 2
		}
		patches[string(c)] = Object{"spec": spec}
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

// WriteNodeFiles writes the files that are mounted into every node.
func WriteNodeFiles(folder string, state clusters.State) error {
	config, err := SchedulerConfig(state)
	if err != nil {
		return err
	}
	files := map[string]string{filepath.Join("scheduler", SchedulerConfigName): config}
	for name, patch := range componentPatches() {
		files[filepath.Join("patches", name)] = patch
	}
	for name, content := range files {
		if err := WriteFile(filepath.Join(folder, name), content); err != nil {
			return fmt.Errorf("write the files of the nodes: %w", err)
		}
	}
	return nil
}

// WriteFile replaces a file atomically: a concurrent reader sees the old one or the new one.
func WriteFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temporary := path + ".tmp"
	if err := os.WriteFile(temporary, []byte(content), 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
