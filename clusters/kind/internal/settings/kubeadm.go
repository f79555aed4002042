package settings

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
)

// EditClusterConfiguration sets the flags of a state in kubeadm's ClusterConfiguration, and restores those of earlier
// states, which oursOf returns. The version is the one that the cluster has.
func EditClusterConfiguration(text, version string, state clusters.State,
	oursOf func(clusters.Component) map[string]*string,
) (string, error) {
	var tree Object
	if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
		return "", err
	}
	if _, known := tree["kubernetesVersion"]; !known {
		return "", fmt.Errorf("it names no version of Kubernetes:\n%s", text)
	}
	// A kubeadm that is newer by more than one minor version would reject the cluster.
	tree["kubernetesVersion"] = "v" + version
	for _, component := range clusters.ControlPlane() {
		section, _ := tree[sectionOf(component)].(Object)
		ours, wanted := oursOf(component), StateFlags(state, component)
		if section["extraArgs"] == nil && len(ours) == 0 && len(wanted) == 0 {
			continue // the type of missing arguments depends on the version of the configuration
		}
		if section == nil {
			section = Object{}
			tree[sectionOf(component)] = section
		}
		section["extraArgs"] = editExtraArgs(section["extraArgs"], ours, wanted)
	}
	data, err := yaml.Marshal(tree)
	return string(data), err
}

// editExtraArgs sets flags in kubeadm's extraArgs, and restores those of earlier states. extraArgs are a map up to
// v1beta3, and then a list of names and values.
func editExtraArgs(args any, ours map[string]*string, wanted map[string]string) any {
	if list, isList := args.([]any); isList {
		kept := []any{}
		for _, item := range list {
			entry, _ := item.(Object)
			name, _ := entry["name"].(string)
			_, replaced := wanted[name]
			if _, known := ours[name]; !replaced && !known {
				kept = append(kept, item)
			}
		}
		for _, name := range clusters.SortedKeys(ours) {
			if _, replaced := wanted[name]; !replaced && ours[name] != nil {
				kept = append(kept, Object{"name": name, "value": *ours[name]})
			}
		}
		for _, name := range clusters.SortedKeys(wanted) {
			kept = append(kept, Object{"name": name, "value": wanted[name]})
		}
		return kept
	}
	edited := Object{}
	if existing, isMap := args.(Object); isMap {
		for name, value := range existing {
			edited[name] = value
		}
	}
	for name, before := range ours {
		if delete(edited, name); before != nil {
			edited[name] = *before
		}
	}
	for name, value := range wanted {
		edited[name] = value
	}
	return edited
}
