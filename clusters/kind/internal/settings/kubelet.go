package settings

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
)

// kubeletFlagKey begins the file from which kubelet's unit takes its flags.
const kubeletFlagKey = "KUBELET_KUBEADM_ARGS="

// goneFlag matches a flag that kubeadm before 1.35 sets for kubelet. Kubelet 1.35 does not support it. The default of
// older kubelets works as well.
var goneFlag = regexp.MustCompile(` ?--pod-infra-container-image=[^ "]*`)

// WithoutGoneFlags removes flags that a version's kubelet does not support.
func WithoutGoneFlags(flags, version string) string {
	if v, err := clusters.ParseVersion(version); err == nil && v.Minor >= 35 {
		return goneFlag.ReplaceAllString(flags, "")
	}
	return flags
}

// WithGates sets the feature gates of a KubeletConfiguration or a KubeProxyConfiguration.
func WithGates(config string, gates map[string]bool) (string, error) {
	var tree Object
	if err := yaml.Unmarshal([]byte(config), &tree); err != nil {
		return "", err
	}
	if tree == nil {
		return "", errors.New("it is empty")
	}
	delete(tree, "featureGates")
	if len(gates) > 0 {
		tree["featureGates"] = gates
	}
	data, err := yaml.Marshal(tree)
	return string(data), err
}

func SameYAML(a, b string) (bool, error) {
	one, err1 := yaml.YAMLToJSON([]byte(a))
	two, err2 := yaml.YAMLToJSON([]byte(b))
	return string(one) == string(two), errors.Join(err1, err2)
}

// KubeletFlagsFile edits the file from which kubelet's unit takes its flags. Flags of earlier states that are no
// longer wanted get their earlier values again.
func KubeletFlagsFile(file string, wanted map[string]string, ours map[string]*string) string {
	if len(wanted) == 0 && len(ours) == 0 {
		return file
	}
	line := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(file), kubeletFlagKey))
	flags := map[string]string{}
	for _, word := range strings.Fields(strings.Trim(line, `"`)) {
		name, value, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		flags[name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		if _, still := wanted[name]; still {
			continue
		}
		if delete(flags, name); ours[name] != nil {
			flags[name] = *ours[name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if _, known := ours[name]; !known {
			ours[name] = nil
			if value, had := flags[name]; had {
				ours[name] = &value
			}
		}
		flags[name] = wanted[name]
	}
	words := make([]string, 0, len(flags))
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		words = append(words, "--"+name+"="+flags[name])
	}
	return kubeletFlagKey + `"` + strings.Join(words, " ") + "\"\n"
}
