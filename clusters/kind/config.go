package kind

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Places inside a node.
const (
	// nodeFolder is where a cluster's folder of node files is mounted.
	nodeFolder      = "/etc/rehearse"
	schedulerFolder = nodeFolder + "/scheduler"
	schedulerFile   = schedulerFolder + "/" + schedulerConfigName
	patchesFolder   = nodeFolder + "/patches"
)

// object is a piece of YAML.
type object = map[string]any

// Config returns the configuration with which kind makes a cluster of this state: what `kind create cluster --config` takes.
func Config(state clusters.State, image, hostFolder string) ([]byte, error) {
	mounts := []object{{"hostPath": hostFolder, "containerPath": nodeFolder, "readOnly": true}}
	var nodes []object
	for range state.NumberOfControlPlanes() {
		nodes = append(nodes, object{"role": "control-plane", "image": image, "extraMounts": mounts})
	}
	for _, group := range state.Nodes {
		for _, name := range group.Names() {
			node := object{"role": "worker", "image": image, "extraMounts": mounts}
			if len(group.Labels) > 0 {
				node["labels"] = group.Labels
			}
			// Nodes are called as on local clusters; their containers have names of kind's.
			registration := object{"name": name}
			if len(group.Taints) > 0 {
				registration["taints"] = group.Taints
			}
			patch, err := document("JoinConfiguration", object{"nodeRegistration": registration})
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
	config := object{
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

// kubeadmPatches are without a version of kubeadm's API, so that they fit every version of it.
func kubeadmPatches(state clusters.State) ([]string, error) {
	init := object{"patches": object{"directory": patchesFolder}}
	join := object{}
	if state.NumberOfControlPlanes() > 1 {
		join["patches"] = init["patches"]
	}
	if flags := flagsOf(state, clusters.Kubelet); len(flags) > 0 {
		init["nodeRegistration"] = object{"kubeletExtraArgs": flags}
		join["nodeRegistration"] = init["nodeRegistration"]
	}
	// From 1.35 on, kubelet does not start on a host with cgroup v1 unless this is false.
	kubelet := object{"failCgroupV1": false}
	proxy := object{}
	if own := state.Components[clusters.Kubelet].FeatureGates; len(own) > 0 {
		kubelet["featureGates"] = own
	}
	if own := state.Components[clusters.KubeProxy].FeatureGates; len(own) > 0 {
		proxy["featureGates"] = own
	}
	var patches []string
	for _, part := range []struct {
		kind    string
		content object
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

func clusterConfiguration(state clusters.State) object {
	sections := map[clusters.Component]string{clusters.APIServer: "apiServer", clusters.ControllerManager: "controllerManager", clusters.Scheduler: "scheduler"}
	config := object{}
	for _, c := range clusters.ControlPlane() {
		args := creationFlags(state, c)
		section := object{}
		if len(args) > 0 {
			section["extraArgs"] = args
		}
		if c == clusters.Scheduler {
			section["extraVolumes"] = []object{{"name": "rehearse", "hostPath": schedulerFolder, "mountPath": schedulerFolder, "readOnly": true, "pathType": "Directory"}}
		}
		if len(section) > 0 {
			config[sections[c]] = section
		}
	}
	return config
}

// creationFlags are a component's flags at creation beside those that kind itself gives: gates for all, and the runtime config.
func creationFlags(state clusters.State, c clusters.Component) map[string]string {
	flags := flagsOf(state, c)
	if len(state.Components[c].FeatureGates) > 0 {
		flags["feature-gates"] = pairs(state.Gates(c))
	}
	return flags
}

// flagsOf are the flags that a component has from us and from the state; the state's own come first.
func flagsOf(state clusters.State, c clusters.Component) map[string]string {
	flags := map[string]string{}
	if elected(c) && state.NumberOfControlPlanes() == 1 {
		// There is one of each. After a kill the next would wait for the lease of the one before, for nothing.
		flags["leader-elect"] = "false"
	}
	switch c {
	case clusters.ControllerManager:
		// As on local clusters. It starts its controllers one after the other, each with three requests, of which it else makes twenty a second: five seconds
		// in which no pod of a Deployment comes, at every start.
		flags["kube-api-qps"], flags["kube-api-burst"] = "1000", "2000"
	case clusters.Scheduler:
		flags["config"] = schedulerFile
	}
	for name, value := range state.Components[c].Flags {
		flags[name] = value
	}
	return flags
}

// elected components lead one at a time, where there are several of them.
func elected(c clusters.Component) bool {
	return c == clusters.ControllerManager || c == clusters.Scheduler
}

func document(kind string, content object) (string, error) {
	content["kind"] = kind
	data, err := yaml.Marshal(content)
	if err != nil {
		return "", fmt.Errorf("write a patch of %s: %w", kind, err)
	}
	return string(data), nil
}

// pairs writes a map as flags take it: "A=true,B=false", sorted.
func pairs[V any](m map[string]V) string {
	all := make([]string, 0, len(m))
	for key, value := range m {
		all = append(all, fmt.Sprintf("%s=%v", key, value))
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}
