// Package clusters says what a cluster is (State), what a change of it is (Change), and what every provider of
// clusters can do (Provider, Cluster).
package clusters

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Component is a Kubernetes program that a cluster runs, by the name of its binary.
type Component string

// The components of a control plane that a State can address.
const (
	APIServer         Component = "kube-apiserver"
	ControllerManager Component = "kube-controller-manager"
	Scheduler         Component = "kube-scheduler"
	Kubelet           Component = "kubelet"
	KubeProxy         Component = "kube-proxy"
	Etcd              Component = "etcd"
)

// ControlPlane lists the versioned components of a control plane in the order in which an upgrade starts them
// (https://kubernetes.io/releases/version-skew-policy/); a downgrade reverses it.
func ControlPlane() []Component {
	return []Component{APIServer, ControllerManager, Scheduler}
}

// State is what a cluster is: everything that a transition can change.
type State struct {
	// Version of Kubernetes: "1.34" is the newest patch of that minor that is available, "1.34.4" exactly that one.
	Version string `json:"version,omitempty"`
	// EmulatedVersion is the minor version, such as "1.35", whose feature gates and APIs newer programs imitate
	// (--emulated-version of API server, controller manager and scheduler). An upgrade in two steps goes to the new
	// version with the old one emulated, and then to the same version without. Default, and end of an emulation: the
	// version itself (local).
	EmulatedVersion string `json:"emulatedVersion,omitempty"`
	// MinCompatibilityVersion is the oldest minor version that must be able to read what is stored
	// (--min-compatibility-version, since 1.35): to go back to an older one is not safe. Default: the one before the
	// emulated version (local).
	MinCompatibilityVersion string `json:"minCompatibilityVersion,omitempty"`
	// EmulationForwardCompatible serves newer versions of the APIs that the emulated version serves, and lets
	// runtimeConfig turn on APIs that came after it (--emulation-forward-compatible and
	// --runtime-config-emulation-forward-compatible of the API server): what programs of the new version may
	// need. It ends with the emulation (local).
	EmulationForwardCompatible bool `json:"emulationForwardCompatible,omitempty"`
	// FeatureGates are given to every component; see components for one component alone.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// RuntimeConfig turns APIs on and off, as kube-apiserver's --runtime-config does: {"scheduling.k8s.io/v1alpha1":
	// "true"}.
	RuntimeConfig map[string]string `json:"runtimeConfig,omitempty"`
	// Components holds what is given to one component alone, by the name of its binary; kube-scheduler/NAME for one of
	// schedulers, which gets nothing of what is given to kube-scheduler.
	Components map[Component]ComponentState `json:"components,omitempty"`
	// SchedulerProfiles are the profiles of a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), verbatim.
	SchedulerProfiles []map[string]any `json:"schedulerProfiles,omitempty"`
	// Schedulers are further kube-schedulers, side by side with the one that the profiles above are of (local).
	Schedulers []NamedScheduler `json:"schedulers,omitempty"`
	// ControlPlanes is the number of control planes: an API server, a controller manager and a scheduler each, and a
	// balancer before the API servers. Default: 1; at most 7. A local cluster has one etcd for all of them. On kind each
	// has an etcd of its own, so that their number must be odd. A cluster keeps its number.
	ControlPlanes int `json:"controlPlanes,omitempty"`
	// Nodes are the cluster's nodes; simulated ones on local clusters.
	Nodes []NodeGroup `json:"nodes,omitempty"`
	// Systems are what is under test, installed in this order.
	Systems []System `json:"systems,omitempty"`
}

// ComponentState is what is given to one component alone.
type ComponentState struct {
	// Version of Kubernetes that the component runs instead of the cluster's: kube-controller-manager and kube-scheduler
	// alone, on every control plane. It stays when the cluster's version changes, and ends when both are the same. The
	// version skew policy counts: not newer than an API server, and at most one minor version older (local).
	Version string `json:"version,omitempty"`
	// FeatureGates for this component, on top of the state's own.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// Flags of the component's command line without their leading dashes: {v: "4"}.
	Flags map[string]string `json:"flags,omitempty"`
}

// NodeGroup is a number of like nodes.
type NodeGroup struct {
	// Name is the prefix of the nodes' names: node-0, node-1, ... Default: node.
	Name string `json:"name,omitempty"`
	// Count of nodes. Default: 1.
	Count *int `json:"count,omitempty"`
	// Capacity of each node by resource name. Default: cpu 32, memory 256Gi and pods 110.
	Capacity map[string]string `json:"capacity,omitempty"`
	// Labels of each node.
	Labels map[string]string `json:"labels,omitempty"`
	// Taints of each node.
	Taints []Taint `json:"taints,omitempty"`
}

// Taint repels pods from a node (core/v1 Taint).
type Taint struct {
	// Key of the taint.
	Key string `json:"key"`
	// Value of the taint.
	Value string `json:"value,omitempty"`
	// Effect: NoSchedule, PreferNoSchedule or NoExecute.
	Effect string `json:"effect"`
}

// Change is a transition's difference to the state before it, merged like a JSON merge patch (RFC 7386): maps are
// merged by key and a null removes the key (a gate then has its version's default); lists are replaced.
type Change struct {
	// Version of Kubernetes to go to, up or down.
	Version string `json:"version,omitempty"`
	// EmulatedVersion to imitate from now on; the version itself ends it. The version that stays compatible is its default
	// again.
	EmulatedVersion string `json:"emulatedVersion,omitempty"`
	// MinCompatibilityVersion to stay compatible with from now on.
	MinCompatibilityVersion string `json:"minCompatibilityVersion,omitempty"`
	// EmulationForwardCompatible: newer versions of APIs are served, or no longer.
	EmulationForwardCompatible *bool `json:"emulationForwardCompatible,omitempty"`
	// FeatureGates to set; null returns a gate to its version's default.
	FeatureGates map[string]*bool `json:"featureGates,omitempty"`
	// RuntimeConfig to set; null removes an entry.
	RuntimeConfig map[string]*string `json:"runtimeConfig,omitempty"`
	// Components to change, by the name of their binary; null removes all that was given to that component alone.
	Components map[Component]*ComponentChange `json:"components,omitempty"`
	// SchedulerProfiles to use instead of the ones before.
	SchedulerProfiles []map[string]any `json:"schedulerProfiles,omitempty"`
	// Schedulers to change, start or remove, by their name; those that are not named stay as they are.
	Schedulers []NamedSchedulerChange `json:"schedulers,omitempty"`
	// Nodes to have instead of the ones before.
	Nodes []NodeGroup `json:"nodes,omitempty"`
	// Systems to change, install or remove, by their name; those that are not named stay as they are.
	Systems []SystemChange `json:"systems,omitempty"`
}

// ComponentChange is the change of what is given to one component alone.
type ComponentChange struct {
	// Version to run from now on instead of the cluster's; the cluster's own version ends that.
	Version string `json:"version,omitempty"`
	// FeatureGates to set; null removes an entry.
	FeatureGates map[string]*bool `json:"featureGates,omitempty"`
	// Flags to set; null removes an entry.
	Flags map[string]*string `json:"flags,omitempty"`
}

// With returns the state after the change; the receiver is left as it is.
func (s State) With(c Change) State {
	next := s
	if c.Version != "" {
		next.Version = c.Version
	}
	next = next.emulating(c)
	next.FeatureGates = merge(s.FeatureGates, c.FeatureGates)
	next.RuntimeConfig = merge(s.RuntimeConfig, c.RuntimeConfig)
	next.Components = maps.Clone(s.Components)
	for name, change := range c.Components {
		if change == nil {
			delete(next.Components, name)
			continue
		}
		if next.Components == nil {
			next.Components = map[Component]ComponentState{}
		}
		next.Components[name] = ComponentState{
			Version:      cmp.Or(change.Version, s.Components[name].Version),
			FeatureGates: merge(s.Components[name].FeatureGates, change.FeatureGates),
			Flags:        merge(s.Components[name].Flags, change.Flags),
		}
	}
	next.Components = withoutOwn(next.Components, next.Version)
	if c.SchedulerProfiles != nil {
		next.SchedulerProfiles = c.SchedulerProfiles
	}
	next.Schedulers = withSchedulers(s.Schedulers, c.Schedulers)
	for _, scheduler := range c.Schedulers {
		if scheduler.Remove {
			delete(next.Components, scheduler.Component())
		}
	}
	if c.Nodes != nil {
		next.Nodes = c.Nodes
	}
	next.Systems = withSystems(s.Systems, c.Systems)
	return next
}

// Gates returns the feature gates that one component gets.
func (s State) Gates(c Component) map[string]bool {
	gates := maps.Clone(s.FeatureGates)
	if gates == nil {
		gates = map[string]bool{}
	}
	maps.Copy(gates, s.Components[c].FeatureGates)
	return gates
}

// SortedKeys returns a map's keys in order, so that whatever is made of a state is the same every time.
func SortedKeys[K ~string, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}

func merge[V any](before map[string]V, change map[string]*V) map[string]V {
	after := maps.Clone(before)
	for key, value := range change {
		if value == nil {
			delete(after, key)
			continue
		}
		if after == nil {
			after = map[string]V{}
		}
		after[key] = *value
	}
	return after
}

// String is the state in one line: "1.34.4 RelaxedServiceNameValidation=false".
func (s State) String() string { return strings.Join(s.words(), " ") }

// After is what differs from the state before, behind the version: what is new or changed, and what is not there any
// more.
func (s State) After(before State) string {
	was, is := before.words(), s.words()
	text := is[:1:1]
	for _, word := range is[1:] {
		if !slices.Contains(was, word) {
			text = append(text, word)
		}
	}
	named := map[string]bool{}
	for _, word := range is {
		named[nameIn(word)] = true
	}
	for _, word := range was[1:] {
		if name := nameIn(word); !named[name] {
			text = append(text, "without "+name)
		}
	}
	if len(text) == 1 && was[0] == is[0] {
		return s.String() // what differs is in no word
	}
	return strings.Join(text, " ")
}

// nameIn is what a word of a state is about: the gate, the flag, the system.
func nameIn(word string) string {
	if i := strings.IndexAny(word, "=("); i > 0 {
		return word[:i]
	}
	return word
}

func (s State) words() []string {
	words := []string{s.Version}
	if s.EmulatedVersion != "" {
		words = append(words, "emulatedVersion="+s.EmulatedVersion)
	}
	if s.MinCompatibilityVersion != "" {
		words = append(words, "minCompatibilityVersion="+s.MinCompatibilityVersion)
	}
	if s.EmulationForwardCompatible {
		words = append(words, "emulationForwardCompatible=true")
	}
	for _, gate := range SortedKeys(s.FeatureGates) {
		words = append(words, fmt.Sprintf("%s=%t", gate, s.FeatureGates[gate]))
	}
	for _, key := range SortedKeys(s.RuntimeConfig) {
		words = append(words, key+"="+s.RuntimeConfig[key])
	}
	for _, name := range SortedKeys(s.Components) {
		c := s.Components[name]
		if c.Version != "" {
			words = append(words, fmt.Sprintf("%s:version=%s", name, c.Version))
		}
		for _, gate := range SortedKeys(c.FeatureGates) {
			words = append(words, fmt.Sprintf("%s:%s=%t", name, gate, c.FeatureGates[gate]))
		}
		for _, flag := range SortedKeys(c.Flags) {
			words = append(words, fmt.Sprintf("%s:--%s=%s", name, flag, c.Flags[flag]))
		}
	}
	if n := len(s.SchedulerProfiles); n > 0 {
		words = append(words, fmt.Sprintf("profiles=%d", n))
	}
	for _, scheduler := range s.Schedulers {
		words = append(words, scheduler.String())
	}
	if n := s.NumberOfControlPlanes(); n > 1 {
		words = append(words, fmt.Sprintf("controlPlanes=%d", n))
	}
	nodes := 0
	for _, group := range s.Nodes {
		nodes += group.Number()
	}
	if nodes > 0 {
		words = append(words, fmt.Sprintf("nodes=%d", nodes))
	}
	for _, system := range s.Systems {
		words = append(words, system.String())
	}
	return words
}
