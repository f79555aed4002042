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
	usual := usualFlags(component)
	maps.Copy(usual, flagsOf(clusters.State{ControlPlanes: state.ControlPlanes}, component))
	ours := map[string]*string{}
	for name := range StateFlags(state, component) {
		ours[name] = nil
		if value, known := usual[name]; known {
			ours[name] = &value
		}
	}
	return ours
}

// usualFlags returns the flags that kubeadm and kind set for a component, with those values that all clusters have in
// common.
func usualFlags(component clusters.Component) map[string]string {
	const folder, pki = "/etc/kubernetes", "/etc/kubernetes/pki"
	switch component {
	case clusters.APIServer:
		return map[string]string{
			"runtime-config":                     "", // kind's
			"allow-privileged":                   "true",
			"authorization-mode":                 "Node,RBAC",
			"client-ca-file":                     pki + "/ca.crt",
			"enable-admission-plugins":           "NodeRestriction",
			"enable-bootstrap-token-auth":        "true",
			"etcd-cafile":                        pki + "/etcd/ca.crt",
			"etcd-certfile":                      pki + "/apiserver-etcd-client.crt",
			"etcd-keyfile":                       pki + "/apiserver-etcd-client.key",
			"etcd-servers":                       "https://127.0.0.1:2379",
			"kubelet-client-certificate":         pki + "/apiserver-kubelet-client.crt",
			"kubelet-client-key":                 pki + "/apiserver-kubelet-client.key",
			"kubelet-preferred-address-types":    "InternalIP,ExternalIP,Hostname",
			"proxy-client-cert-file":             pki + "/front-proxy-client.crt",
			"proxy-client-key-file":              pki + "/front-proxy-client.key",
			"requestheader-allowed-names":        "front-proxy-client",
			"requestheader-client-ca-file":       pki + "/front-proxy-ca.crt",
			"requestheader-extra-headers-prefix": "X-Remote-Extra-",
			"requestheader-group-headers":        "X-Remote-Group",
			"requestheader-username-headers":     "X-Remote-User",
			"secure-port":                        "6443",
			"service-account-issuer":             "https://kubernetes.default.svc.cluster.local",
			"service-account-key-file":           pki + "/sa.pub",
			"service-account-signing-key-file":   pki + "/sa.key",
			"service-cluster-ip-range":           "10.96.0.0/16",
			"tls-cert-file":                      pki + "/apiserver.crt",
			"tls-private-key-file":               pki + "/apiserver.key",
		}
	case clusters.ControllerManager:
		return map[string]string{
			"allocate-node-cidrs":              "true",
			"authentication-kubeconfig":        folder + "/controller-manager.conf",
			"authorization-kubeconfig":         folder + "/controller-manager.conf",
			"bind-address":                     "127.0.0.1",
			"client-ca-file":                   pki + "/ca.crt",
			"cluster-cidr":                     "10.244.0.0/16",
			"cluster-signing-cert-file":        pki + "/ca.crt",
			"cluster-signing-key-file":         pki + "/ca.key",
			"controllers":                      "*,bootstrapsigner,tokencleaner",
			"enable-hostpath-provisioner":      "true", // kind's
			"kubeconfig":                       folder + "/controller-manager.conf",
			"leader-elect":                     "true",
			"requestheader-client-ca-file":     pki + "/front-proxy-ca.crt",
			"root-ca-file":                     pki + "/ca.crt",
			"service-account-private-key-file": pki + "/sa.key",
			"service-cluster-ip-range":         "10.96.0.0/16",
			"use-service-account-credentials":  "true",
		}
	case clusters.Scheduler:
		return map[string]string{
			"authentication-kubeconfig": folder + "/scheduler.conf",
			"authorization-kubeconfig":  folder + "/scheduler.conf",
			"bind-address":              "127.0.0.1",
			"kubeconfig":                folder + "/scheduler.conf",
			"leader-elect":              "true",
		}
	}
	return map[string]string{}
}
