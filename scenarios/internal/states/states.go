// Package states validates the states of a scenario's cluster.
package states

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// Check checks states and their changes for mistakes that the types allow.
type Check struct{ *yamltree.Problems }

// Components lists every component that can be addressed in a state.
func Components(state clusters.State) []string {
	return append(Restartable(state), string(clusters.Kubelet), string(clusters.KubeProxy))
}

// Restartable lists the components that can be stopped and started one at a time.
func Restartable(state clusters.State) []string {
	names := []string{string(clusters.Etcd)}
	for _, c := range state.ControlPlane() {
		names = append(names, string(c))
	}
	return names
}

// State checks the first state of a scenario.
func (v *Check) State(s clusters.State, n *yamltree.Node) {
	if n.Get("version") != nil {
		v.Version(s.Version, n.At("version"))
	}
	v.Emulation(s.EmulatedVersion, s.MinCompatibilityVersion, n)
	v.Gates(clusters.SortedKeys(s.FeatureGates), n.At("featureGates"))
	for _, name := range clusters.SortedKeys(s.Components) {
		at := n.At("components")
		v.OneOf(string(name), Components(s), at.Key(string(name)), "component")
		v.OwnVersion(name, s.Components[name].Version, at.At(string(name)))
		v.Gates(clusters.SortedKeys(s.Components[name].FeatureGates), at.At(string(name), "featureGates"))
		v.Flags(clusters.SortedKeys(s.Components[name].Flags), at.At(string(name), "flags"))
	}
	v.schedulers(s, n.At("schedulers"))
	if at := n.Get("controlPlanes"); at != nil &&
		(s.ControlPlanes == 0 || clusters.CheckControlPlanes(s.ControlPlanes) != nil) {
		v.At(at, fmt.Sprintf("from 1 to %d are possible", clusters.MostControlPlanes),
			"a cluster cannot have %d control planes", s.ControlPlanes)
	}
	v.Nodes(s.Nodes, n.At("nodes"))
	v.Systems(s.Systems, n.At("systems"))
}

// Emulation checks the form of emulated versions. The provider checks whether a version can emulate them.
func (v *Check) Emulation(emulated, compatible string, n *yamltree.Node) {
	for name, text := range map[string]string{"emulatedVersion": emulated, "minCompatibilityVersion": compatible} {
		at := n.Get(name)
		if at == nil {
			continue
		}
		if version, err := clusters.ParseVersion(text); err != nil {
			v.At(at, "", "%v", err)
		} else if version.Exact() {
			v.At(at, fmt.Sprintf("write %q", version.MinorString()), "%s is a minor version, without a patch", name)
		}
	}
}

// OwnVersion checks a component's own version.
func (v *Check) OwnVersion(name clusters.Component, text string, n *yamltree.Node) {
	if n.Get("version") == nil {
		return
	}
	if !clusters.CanHaveOwnVersion(name) {
		v.At(n.Key("version"), fmt.Sprintf("%s and %s can", clusters.ControllerManager, clusters.Scheduler),
			"%s cannot have its own version", words.Short(string(name)))
		return
	}
	v.Version(text, n.At("version"))
}

// Gates checks the names of feature gates.
func (v *Check) Gates(names []string, n *yamltree.Node) {
	for _, name := range names {
		if !expressions.Identifier(name) {
			v.At(n.Key(name), "", "%q is not the name of a feature gate", words.Short(name))
		}
	}
}

// Flags checks the names of flags.
func (v *Check) Flags(names []string, n *yamltree.Node) {
	for _, name := range names {
		if strings.HasPrefix(name, "-") || strings.ContainsAny(name, "= ") || name == "" {
			v.At(n.Key(name), "flags are written without dashes: {v: \"4\"}", "%q is not the name of a "+
				"flag", words.Short(name))
		}
	}
}

// Nodes checks groups of nodes.
func (v *Check) Nodes(groups []clusters.NodeGroup, n *yamltree.Node) {
	names := map[string]bool{}
	for i, g := range groups {
		at := n.At(i)
		name := g.Name
		if name == "" {
			name = "node"
		}
		for _, message := range validation.IsDNS1123Subdomain(name) {
			message, _, _ = strings.Cut(message, " (e.g.")
			v.At(at.At("name"), "", "the nodes' name %q: %s", words.Short(name), message)
		}
		if names[name] {
			v.At(at.At("name"), "give each group its own name", "two groups of nodes are called %q", name)
		}
		names[name] = true
		if g.Count != nil && *g.Count < 0 {
			v.At(at.At("count"), "", "a group cannot have %d nodes", *g.Count)
		}
		for _, r := range clusters.SortedKeys(g.Capacity) {
			if _, err := resource.ParseQuantity(g.Capacity[r]); err != nil {
				v.At(at.At("capacity", r), "such as 500m, 4 or 16Gi", "%q is no quantity", words.Short(g.Capacity[r]))
			}
		}
		for j, t := range g.Taints {
			if t.Key == "" {
				v.At(at.At("taints", j, "key"), "", "a taint needs a key")
			}
			v.OneOf(t.Effect, []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}, at.At("taints", j, "effect"),
				"effect of a taint")
		}
	}
}

// Version checks a version of Kubernetes.
func (v *Check) Version(text string, n *yamltree.Node) {
	if _, err := clusters.ParseVersion(text); err != nil {
		v.At(n, "", "%v", err)
	}
}
