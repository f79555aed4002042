package kind

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/live"
)

// checkSchedulers rejects additional schedulers: each would need a static pod of its own.
func checkSchedulers(state clusters.State) error {
	if len(state.Schedulers) == 0 {
		return nil
	}
	return fmt.Errorf("schedulers: a kind cluster has one kube-scheduler, not %d additional ones; give it several "+
		"profiles (schedulerProfiles), or use --provider local", len(state.Schedulers))
}

// checkEmulation rejects emulated versions, which only local clusters support.
func checkEmulation(state clusters.State) error {
	if !state.Emulates() {
		return nil
	}
	return &clusters.LacksError{Ability: clusters.AbilityEmulation, Err: errors.New("emulatedVersion, " +
		"minCompatibilityVersion and emulationForwardCompatible: a kind cluster does not support them; use " +
		"--provider local")}
}

func checkComponents(state clusters.State) error {
	var errs []error
	for _, name := range clusters.SortedKeys(state.Components) {
		if version := state.Components[name].Version; version != "" {
			errs = append(errs, &clusters.LacksError{Ability: clusters.AbilityOwnVersions, Err: fmt.Errorf("component %s: "+
				"version %s: on a kind cluster all components have its version; use --provider local", name, version)})
		}
		switch name {
		case clusters.APIServer, clusters.ControllerManager, clusters.Scheduler, clusters.Kubelet:
		case clusters.KubeProxy:
			if len(state.Components[name].Flags) > 0 {
				errs = append(errs,
					errors.New("component kube-proxy: it supports no flags; only its feature gates can be set on kind"))
			}
		default:
			errs = append(errs,
				fmt.Errorf("component %s: a kind cluster has no such component to configure; it has %v", name,
					live.Gated()))
		}
	}
	return errors.Join(errs...)
}

// checkCapacity rejects resources that a kind node cannot have.
func checkCapacity(groups []clusters.NodeGroup) error {
	var errs []error
	for _, group := range groups {
		for _, resource := range clusters.SortedKeys(group.Capacity) {
			if !extended(resource) {
				errs = append(errs,
					fmt.Errorf("node capacity: a kind node has the %s of this machine; omit it, "+
						"use a resource of a domain (example.com/slots), or use --provider local", resource))
			}
		}
	}
	return errors.Join(errs...)
}

// checkStep rejects changes that a running cluster does not support.
func checkStep(from, to clusters.State) error {
	var errs []error
	if !sameNodes(from.Nodes, to.Nodes) {
		errs = append(errs, errors.New("the nodes of a running kind cluster cannot change; use --provider local"))
	}
	if before, after := from.NumberOfControlPlanes(), to.NumberOfControlPlanes(); before != after {
		errs = append(errs,
			fmt.Errorf("the number of control planes of a running kind cluster cannot change from %d to %d",
				before, after))
	}
	return errors.Join(errs...)
}

func sameNodes(a, b []clusters.NodeGroup) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}

// extended reports whether a resource is an extended resource that kubelet accepts, such as example.com/dongle. A
// node has the cpu, memory and other built-in resources of the machine.
func extended(resource string) bool {
	domain, _, found := strings.Cut(resource, "/")
	return found && domain != "kubernetes.io" && !strings.HasSuffix(domain, ".kubernetes.io") &&
		!strings.HasPrefix(resource, "requests.")
}
