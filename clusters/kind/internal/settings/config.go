// Package settings derives the configurations of kind, kubeadm and the components from a state, as text.
package settings

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Paths in a node.
const (
	// nodeFolder is where a cluster's folder of node files is mounted.
	nodeFolder      = "/etc/rehearse"
	schedulerFolder = nodeFolder + "/scheduler"
	schedulerFile   = schedulerFolder + "/" + SchedulerConfigName
	PatchesFolder   = nodeFolder + "/patches"
)

// Object is a piece of YAML.
type Object = map[string]any

// Config returns the configuration of a kind cluster in this state, for `kind create cluster --config`.
func Config(state clusters.State, image, hostFolder string) ([]byte, error) {
	mounts := []Object{{"hostPath": hostFolder, "containerPath": nodeFolder, "readOnly": true}}
	var nodes []Object
	for range state.NumberOfControlPlanes() {
		nodes = append(nodes, Object{"role": "control-plane", "image": image, "extraMounts": mounts})
	}
	for _, group := range state.Nodes {
		for _, name := range group.Names() {
			node := Object{"role": "worker", "image": image, "extraMounts": mounts}
			if len(group.Labels) > 0 {
				node["labels"] = group.Labels
			}
			// Nodes have the same names as on local clusters; kind names their containers.
			registration := Object{"name": name}
			if len(group.Taints) > 0 {
				registration["taints"] = group.Taints
			}
			patch, err := document("JoinConfiguration", Object{"nodeRegistration": registration})
			if err != nil {
				return nil, err
			}
			node["kubeadmConfigPatches"] = []string{patch}
			nodes = append(nodes, node)
		}
	}
	patches, err := kubeadmPatches(state)
	if err != nil {
		return nil, err
	}
	config := Object{
		"kind": "Cluster", "apiVersion": "kind.x-k8s.io/v1alpha4",
		"nodes": nodes, "kubeadmConfigPatches": patches,
	}
	if len(state.FeatureGates) > 0 {
		config["featureGates"] = state.FeatureGates
	}
	if len(state.RuntimeConfig) > 0 {
		config["runtimeConfig"] = state.RuntimeConfig
	}
	data, err := yaml.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("write the configuration for kind: %w", err)
	}
	return data, nil
}

// kubeadmPatches returns patches without a version of kubeadm's API, so that they fit every version.
func kubeadmPatches(state clusters.State) ([]string, error) {
	init := Object{"patches": Object{"directory": PatchesFolder}}
	join := Object{}
	if state.NumberOfControlPlanes() > 1 {
		join["patches"] = init["patches"]
	}
	if flags := flagsOf(state, clusters.Kubelet); len(flags) > 0 {
		init["nodeRegistration"] = Object{"kubeletExtraArgs": flags}
		join["nodeRegistration"] = init["nodeRegistration"]
	}
	// From 1.35 on, kubelet does not start on a host with cgroup v1 unless this is false.
	kubelet := Object{"failCgroupV1": false}
	proxy := Object{}
	if own := state.Components[clusters.Kubelet].FeatureGates; len(own) > 0 {
		kubelet["featureGates"] = own
	}
	if own := state.Components[clusters.KubeProxy].FeatureGates; len(own) > 0 {
		proxy["featureGates"] = own
	}
	var patches []string
	for _, part := range []struct {
		kind    string
		content Object
	}{
		{"ClusterConfiguration", clusterConfiguration(state)},
		{"InitConfiguration", init},
		{"JoinConfiguration", join},
		{"KubeletConfiguration", kubelet},
		{"KubeProxyConfiguration", proxy},
	} {
		if len(part.content) == 0 {
			continue
		}
		patch, err := document(part.kind, part.content)
		if err != nil {
			return nil, err
		}
		patches = append(patches, patch)
	}
	return patches, nil
}

func clusterConfiguration(state clusters.State) Object {
	config := Object{}
	for _, c := range clusters.ControlPlane() {
		args := creationFlags(state, c)
		section := Object{}
		if len(args) > 0 {
			section["extraArgs"] = args
		}
		if c == clusters.Scheduler {
			section["extraVolumes"] = []Object{{
				"name": "rehearse", "hostPath": schedulerFolder, "mountPath": schedulerFolder,
				"readOnly": true, "pathType": "Directory",
			}}
		}
		if len(section) > 0 {
			config[sectionOf(c)] = section
		}
	}
	return config
}

// sectionOf returns the name of a component's section in kubeadm's ClusterConfiguration.
func sectionOf(c clusters.Component) string {
	return map[clusters.Component]string{
		clusters.APIServer:         "apiServer",
		clusters.ControllerManager: "controllerManager", clusters.Scheduler: "scheduler",
	}[c]
}

func document(kind string, content Object) (string, error) {
	content["kind"] = kind
	data, err := yaml.Marshal(content)
	if err != nil {
		return "", fmt.Errorf("write a patch of %s: %w", kind, err)
	}
	return string(data), nil
}
