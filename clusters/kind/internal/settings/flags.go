package settings

import (
	"maps"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// creationFlags returns a component's flags at creation, besides those that kind itself sets: feature gates for all
// components, and the runtime config.
func creationFlags(state clusters.State, c clusters.Component) map[string]string {
	flags := flagsOf(state, c)
	if len(state.Components[c].FeatureGates) > 0 {
		flags["feature-gates"] = clusters.Pairs(state.Gates(c))
	}
	return flags
}

// flagsOf returns the flags that we and the state set for a component; those of the state take precedence.
func flagsOf(state clusters.State, c clusters.Component) map[string]string {
	flags := map[string]string{}
	if Elected(c) && state.NumberOfControlPlanes() == 1 {
		// There is only one of each. After a kill, the next one would wait in vain for the old lease to expire.
		flags["leader-elect"] = "false"
	}
	switch c {
	case clusters.ControllerManager:
		// As on local clusters. By default it makes twenty requests a second. It starts its controllers one after the
		// other, each with three requests: at every start, no pod of a Deployment would appear for five seconds.
		flags["kube-api-qps"], flags["kube-api-burst"] = "1000", "2000"
	case clusters.Scheduler:
		flags["config"] = schedulerFile
	}
	for name, value := range state.Components[c].Flags {
		flags[name] = value
	}
	return flags
}

// Elected reports whether a component elects a leader if several of it run.
func Elected(c clusters.Component) bool {
	return c == clusters.ControllerManager || c == clusters.Scheduler
}

// ImageTag returns the tag of Kubernetes' images of a version; a tag cannot contain a plus.
func ImageTag(version string) string { return "v" + strings.ReplaceAll(version, "+", "_") }

// StateFlags returns all flags of a control plane component that a state sets.
func StateFlags(state clusters.State, c clusters.Component) map[string]string {
	flags := map[string]string{}
	for name, value := range state.Components[c].Flags {
		flags[name] = value
	}
	if gates := state.Gates(c); len(gates) > 0 && c != clusters.Kubelet {
		flags["feature-gates"] = clusters.Pairs(gates)
	}
	if c == clusters.APIServer && len(state.RuntimeConfig) > 0 {
		flags["runtime-config"] = clusters.Pairs(state.RuntimeConfig)
	}
	return flags
}

// ReplacedAtCreation returns what kubeadm, kind or we would otherwise have set for flags that a state sets at
// creation, so that they can be rolled back.
func ReplacedAtCreation(component clusters.Component, state clusters.State) map[string]*string {
	usual := map[string]string{}
	if Elected(component) {
		usual["leader-elect"] = "true"
	}
	maps.Copy(usual, flagsOf(clusters.State{ControlPlanes: state.ControlPlanes}, component))
	switch component {
	case clusters.APIServer:
		usual["runtime-config"] = "" // kind's
		usual["allow-privileged"] = "true"
		usual["authorization-mode"] = "Node,RBAC"
		usual["enable-admission-plugins"] = "NodeRestriction"
		usual["enable-bootstrap-token-auth"] = "true"
		usual["secure-port"] = "6443"
		usual["service-cluster-ip-range"] = "10.96.0.0/16"
		usual["service-account-issuer"] = "https://kubernetes.default.svc.cluster.local"
	case clusters.ControllerManager:
		usual["allocate-node-cidrs"] = "true"
		usual["bind-address"] = "127.0.0.1"
		usual["cluster-cidr"] = "10.244.0.0/16"
		usual["controllers"] = "*,bootstrapsigner,tokencleaner"
		usual["enable-hostpath-provisioner"] = "true"
		usual["service-cluster-ip-range"] = "10.96.0.0/16"
		usual["use-service-account-credentials"] = "true"
	case clusters.Scheduler:
		usual["bind-address"] = "127.0.0.1"
	}
	ours := map[string]*string{}
	for name := range StateFlags(state, component) {
		ours[name] = nil
		if value, known := usual[name]; known {
			ours[name] = &value
		}
	}
	return ours
}
