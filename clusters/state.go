// Package clusters defines what a cluster is (State), how it can change (Change), and what every provider can do
// (Provider, Cluster).
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

// State describes a cluster: everything that a transition can change.
type State struct {
	// Version of Kubernetes: "1.34" is the newest cached patch of that minor version or, if none is cached, the
	// newest published one; "1.34.4" is exactly that patch.
	Version string `json:"version,omitempty"`
	// EmulatedVersion is the minor version, such as "1.35", whose feature gates and APIs newer programs emulate
	// (--emulated-version of API server, controller manager and scheduler). A two-step upgrade first runs the new
	// version with the old one emulated, and then ends the emulation. Default: the version itself, which also ends an
	// emulation (local).
	EmulatedVersion string `json:"emulatedVersion,omitempty"`
	// MinCompatibilityVersion is the oldest minor version that must be able to read the stored data
	// (--min-compatibility-version, since 1.35): rolling back further is not safe. Default: the minor version before
	// the emulated one (local).
	MinCompatibilityVersion string `json:"minCompatibilityVersion,omitempty"`
	// EmulationForwardCompatible also serves newer versions of the emulated version's APIs, and lets runtimeConfig turn
	// on APIs that are newer than the emulated version: programs of the new version may need them. It sets
	// --emulation-forward-compatible and --runtime-config-emulation-forward-compatible of the API server, and ends with
	// the emulation (local).
	EmulationForwardCompatible bool `json:"emulationForwardCompatible,omitempty"`
	// FeatureGates are set for every component; see components for the gates of a single component.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// RuntimeConfig turns APIs on and off, as kube-apiserver's --runtime-config does: {"scheduling.k8s.io/v1alpha1":
	// "true"}.
	RuntimeConfig map[string]string `json:"runtimeConfig,omitempty"`
	// Components holds the settings of single components, by the name of their binary. kube-scheduler/NAME is one of
	// schedulers, to which the settings of kube-scheduler do not apply.
	Components map[Component]ComponentState `json:"components,omitempty"`
	// SchedulerProfiles are the profiles of a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), verbatim.
	SchedulerProfiles []map[string]any `json:"schedulerProfiles,omitempty"`
	// Schedulers are additional kube-schedulers, beside the one with schedulerProfiles (local).
	Schedulers []NamedScheduler `json:"schedulers,omitempty"`
	// ControlPlanes is the number of control planes, at most 7. Each has an API server, a controller manager and a
	// scheduler; a load balancer is in front of the API servers. Default: 1. A local cluster has one etcd for all of
	// them. On kind each has its own etcd, so the number must be odd. The number cannot change.
	ControlPlanes int `json:"controlPlanes,omitempty"`
	// Nodes are the cluster's nodes; on local clusters they are simulated. Default: none, so Pods stay Pending. On kind
	// with one control plane, they run on its node.
	Nodes []NodeGroup `json:"nodes,omitempty"`
	// Systems are the software under test, installed in this order.
	Systems []System `json:"systems,omitempty"`
}

// ComponentState contains the settings of a single component.
type ComponentState struct {
	// Version of Kubernetes that the component runs instead of the cluster's version, on every control plane; only for
	// kube-controller-manager and kube-scheduler. It stays when the cluster's version changes, and ends when both are
	// equal. The version skew policy applies: not newer than an API server, and at most one minor version older
	// (local).
	Version string `json:"version,omitempty"`
	// FeatureGates for this component, in addition to those of the state.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// Flags of the component's command line without their leading dashes: {v: "4"}.
	Flags map[string]string `json:"flags,omitempty"`
}

// NodeGroup is a number of identical nodes.
type NodeGroup struct {
	// Name is the prefix of the nodes' names: node-0, node-1, ... Default: node.
	Name string `json:"name,omitempty"`
	// Count of nodes. Default: 1.
	Count *int `json:"count,omitempty"`
	// Capacity of each node by resource name. Default: cpu 32, memory 256Gi, ephemeral-storage 1Ti and pods
	// 1000.
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
	// Version of Kubernetes to upgrade or roll back to.
	Version string `json:"version,omitempty"`
	// EmulatedVersion to emulate from now on; the cluster's own version ends the emulation. This resets
	// minCompatibilityVersion to its default.
	EmulatedVersion string `json:"emulatedVersion,omitempty"`
	// MinCompatibilityVersion to stay compatible with from now on.
	MinCompatibilityVersion string `json:"minCompatibilityVersion,omitempty"`
	// EmulationForwardCompatible turns the serving of newer API versions on or off.
	EmulationForwardCompatible *bool `json:"emulationForwardCompatible,omitempty"`
	// FeatureGates to set; null returns a gate to its version's default.
	FeatureGates map[string]*bool `json:"featureGates,omitempty"`
	// RuntimeConfig to set; null removes an entry.
	RuntimeConfig map[string]*string `json:"runtimeConfig,omitempty"`
	// Components to change, by the name of their binary; null removes all settings of that component.
	Components map[Component]*ComponentChange `json:"components,omitempty"`
	// SchedulerProfiles that replace the previous ones.
	SchedulerProfiles []map[string]any `json:"schedulerProfiles,omitempty"`
	// Schedulers to change, start or remove, by name; all others stay unchanged.
	Schedulers []NamedSchedulerChange `json:"schedulers,omitempty"`
	// Nodes that replace the previous ones.
	Nodes []NodeGroup `json:"nodes,omitempty"`
	// Systems to change, install or remove, by name; all others stay unchanged.
	Systems []SystemChange `json:"systems,omitempty"`
}

// ComponentChange is the change of one component's own settings.
type ComponentChange struct {
	// Version to run from now on instead of the cluster's version; setting the cluster's version removes the
	// difference.
	Version string `json:"version,omitempty"`
	// FeatureGates to set; null removes an entry.
	FeatureGates map[string]*bool `json:"featureGates,omitempty"`
	// Flags to set; null removes an entry.
	Flags map[string]*string `json:"flags,omitempty"`
}

// With returns the state after the change; it does not change the receiver.
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

// SortedKeys returns a map's keys in order, so that the same state always gives the same result.
func SortedKeys[K ~string, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}

// Pairs formats a map as the value of a flag: "A=true,B=false", sorted.
func Pairs[V any](m map[string]V) string {
	all := make([]string, 0, len(m))
	for key, value := range m {
		all = append(all, fmt.Sprintf("%s=%v", key, value))
	}
	slices.Sort(all)
	return strings.Join(all, ",")
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

// String returns the state in one line: "1.34.4 RelaxedServiceNameValidation=false".
func (s State) String() string { return strings.Join(s.words(), " ") }

// After returns the version, followed by the differences to the state before: what is new or changed, and what was
// removed.
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
		return s.String() // no word shows the difference
	}
	return strings.Join(text, " ")
}

// nameIn returns the name in a word of a state: the gate, the flag or the system.
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
