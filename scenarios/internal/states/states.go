// Package states validates the states of a scenario's cluster.
package states

import (
	"fmt"
	"strconv"
	"strings"

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
	for _, api := range clusters.SortedKeys(s.RuntimeConfig) {
		v.API(api, s.RuntimeConfig[api], n.At("runtimeConfig"))
	}
	for _, name := range clusters.SortedKeys(s.Components) {
		at := n.At("components")
		v.OneOf(string(name), Components(s), at.Key(string(name)), "component")
		v.OwnVersion(name, s.Components[name].Version, at.At(string(name)))
		v.Gates(clusters.SortedKeys(s.Components[name].FeatureGates), at.At(string(name), "featureGates"))
		v.Flags(name, clusters.SortedKeys(s.Components[name].Flags), at.At(string(name), "flags"))
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

// API checks an entry of runtimeConfig.
func (v *Check) API(name, value string, n *yamltree.Node) {
	if _, err := strconv.ParseBool(value); err != nil && value != "" {
		v.At(n.At(name), `write "true" or "false"`, "kube-apiserver cannot turn an API on or off with %q",
			words.Short(value))
	}
}

// Flags checks the names of a component's flags.
func (v *Check) Flags(component clusters.Component, names []string, n *yamltree.Node) {
	for _, name := range names {
		switch {
		case strings.HasPrefix(name, "-") || strings.ContainsAny(name, "= ") || name == "":
			v.At(n.Key(name), "flags are written without dashes: {v: \"4\"}", "%q is not the name of a flag",
				words.Short(name))
		case name == "feature-gates" && component != clusters.Etcd:
			v.At(n.Key(name), "set featureGates beside flags: {NAME: true}",
				"this flag would replace the gates that featureGates sets")
		case name == "runtime-config":
			v.At(n.Key(name), "set runtimeConfig beside components: {api/all: \"true\"}",
				"this flag would replace what runtimeConfig sets")
		}
	}
}

// Version checks a version of Kubernetes.
func (v *Check) Version(text string, n *yamltree.Node) {
	if _, err := clusters.ParseVersion(text); err != nil {
		v.At(n, "", "%v", err)
	}
}
