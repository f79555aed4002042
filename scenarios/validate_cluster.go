package scenarios

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rehearse-dev/rehearse/clusters"
)

// components lists every component that can be addressed in a state.
func components(state clusters.State) []string {
	return append(restartable(state), string(clusters.Kubelet), string(clusters.KubeProxy))
}

// restartable lists the components that can be stopped and started one at a time.
func restartable(state clusters.State) []string {
	names := []string{string(clusters.Etcd)}
	for _, c := range state.ControlPlane() {
		names = append(names, string(c))
	}
	return names
}

func (v *validator) state(s clusters.State, n *node) {
	if n.get("version") != nil {
		v.version(s.Version, n.at("version"))
	}
	v.emulation(s.EmulatedVersion, s.MinCompatibilityVersion, n)
	v.gates(clusters.SortedKeys(s.FeatureGates), n.at("featureGates"))
	for _, name := range clusters.SortedKeys(s.Components) {
		at := n.at("components")
		v.oneOf(string(name), components(s), at.key(string(name)), "component")
		v.gates(clusters.SortedKeys(s.Components[name].FeatureGates), at.at(string(name), "featureGates"))
		v.flags(clusters.SortedKeys(s.Components[name].Flags), at.at(string(name), "flags"))
	}
	v.schedulers(s, n.at("schedulers"))
	if at := n.get("controlPlanes"); at != nil &&
		(s.ControlPlanes == 0 || clusters.CheckControlPlanes(s.ControlPlanes) != nil) {
		v.at(at, fmt.Sprintf("from 1 to %d are possible", clusters.MostControlPlanes),
			"a cluster cannot have %d control planes", s.ControlPlanes)
	}
	v.nodes(s.Nodes, n.at("nodes"))
	v.systems(s.Systems, n.at("systems"))
}

// emulation checks versions that are emulated: which ones a version can, its provider says.
func (v *validator) emulation(emulated, compatible string, n *node) {
	for name, text := range map[string]string{"emulatedVersion": emulated, "minCompatibilityVersion": compatible} {
		at := n.get(name)
		if at == nil {
			continue
		}
		if version, err := clusters.ParseVersion(text); err != nil {
			v.at(at, "", "%v", err)
		} else if version.Exact() {
			v.at(at, fmt.Sprintf("write %q", version.MinorString()), "%s is a minor version, without a patch", name)
		}
	}
}

func (v *validator) gates(names []string, n *node) {
	for _, name := range names {
		if !identifier(name) {
			v.at(n.key(name), "", "%q is no name of a feature gate", short(name))
		}
	}
}

func (v *validator) flags(names []string, n *node) {
	for _, name := range names {
		if strings.HasPrefix(name, "-") || strings.ContainsAny(name, "= ") || name == "" {
			v.at(n.key(name), "flags are written without dashes: {v: \"4\"}", "%q is no name of a flag", short(name))
		}
	}
}

func (v *validator) nodes(groups []clusters.NodeGroup, n *node) {
	names := map[string]bool{}
	for i, g := range groups {
		at := n.at(i)
		name := g.Name
		if name == "" {
			name = "node"
		}
		for _, message := range validation.IsDNS1123Subdomain(name) {
			message, _, _ = strings.Cut(message, " (e.g.")
			v.at(at.at("name"), "", "the nodes' name %q: %s", short(name), message)
		}
		if names[name] {
			v.at(at.at("name"), "give each group a name of its own", "two groups of nodes are called %q", name)
		}
		names[name] = true
		if g.Count != nil && *g.Count < 0 {
			v.at(at.at("count"), "", "a group cannot have %d nodes", *g.Count)
		}
		for _, r := range clusters.SortedKeys(g.Capacity) {
			if _, err := resource.ParseQuantity(g.Capacity[r]); err != nil {
				v.at(at.at("capacity", r), "such as 500m, 4 or 16Gi", "%q is no quantity", short(g.Capacity[r]))
			}
		}
		for j, t := range g.Taints {
			if t.Key == "" {
				v.at(at.at("taints", j, "key"), "", "a taint needs a key")
			}
			v.oneOf(t.Effect, []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}, at.at("taints", j, "effect"),
				"effect of a taint")
		}
	}
}
