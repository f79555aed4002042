package scenarios

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/internal/states"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func transitionVerb() verb {
	return verb{
		name: "transition", changesCluster: true, takesTime: true, ownExpect: true, revives: true,
		reads: onlyReads,
		about: func(s *Step) string { return s.Transition.subject() },
		check: func(v *validator, c stepCheck) {
			checkTransition(v, c.scenario, c.i, c.node)
			v.SystemChanges(stateBefore(c.scenario, c.i), c.step.Transition.Systems, c.node.At("systems"))
		},
	}
}

// Transition is a change of the live cluster's state.
type Transition struct {
	clusters.Change `json:",inline"`
	// Force allows what the version skew policy forbids: skipping a minor version, or rolling back more than one.
	Force bool `json:"force,omitempty"`
	// Expect is the expected result of the transition. Default: the cluster reaches the state.
	Expect *TransitionExpect `json:"expect,omitempty"`
	// UpTo stops the transition when that many control planes are in the new state. API servers of two states then
	// serve side by side while steps run; via chooses the one that a step asks. The next transition continues or rolls
	// back. With order: apiServersFirst it counts components: with three control planes, 1 to 3 are API servers, 4 to 6
	// controller managers, and 7 and 8 schedulers; a rollback has the reverse order. Default: all.
	UpTo int `json:"upTo,omitempty"`
	// Order in which control planes change (local). Default: each as a whole, one after the other, as with kubeadm; an
	// upgrade starts with number 0, a rollback with the last. apiServersFirst, as the version skew policy requires: all
	// API servers, then all controller managers, then all schedulers, one after the other; a rollback has the reverse
	// order.
	Order string `json:"order,omitempty"`
	// Method is the tool that upgrades a kind cluster: kubeadm, to rehearse that tool itself. Default: the provider's
	// own method.
	Method string `json:"method,omitempty"`
	// OnFailure is the action if the cluster does not reach the state: revert returns it to the previous state, so that
	// it stays usable. The step still fails. Default: the cluster stays as it is.
	OnFailure string `json:"onFailure,omitempty"`
}

// TransitionExpect is the expected result of a transition.
type TransitionExpect struct {
	// Broken: the cluster does not reach the state because of one component. The step must be the last one, or be
	// followed by another transition.
	Broken *Broken `json:"broken"`
}

// Values of Method, OnFailure and Order.
const (
	MethodKubeadm   = "kubeadm"
	Revert          = "revert"
	APIServersFirst = "apiServersFirst"
)

// Roll returns the order of the transition and where it stops.
func (t *Transition) Roll() clusters.Roll {
	return clusters.Roll{APIServersFirst: t.Order == APIServersFirst, UpTo: t.UpTo}
}

func (t *Transition) subject() string {
	if t.Version != "" {
		return "to " + t.Version
	}
	var names []string
	for _, system := range t.Systems {
		names = append(names, system.Name)
	}
	return strings.Join(names, ", ")
}

func checkTransition(v *validator, s *Scenario, i int, n *yamltree.Node) {
	t := s.Spec.Steps[i].Transition
	changes := 0
	for _, e := range n.Entries {
		if !slices.Contains([]string{"force", "expect", "method", "onFailure"}, e.Key.Text) {
			changes++
		}
	}
	checkMethod(v, t, n)
	checkUpTo(v, s, t, n)
	if changes == 0 {
		v.At(n, "give a version, emulatedVersion, featureGates, runtimeConfig, components, schedulerProfiles, schedulers, "+
			"nodes or systems",
			"a transition that changes nothing")
	}
	if n.Get("version") != nil {
		v.Version(t.Version, n.At("version"))
	}
	v.Emulation(t.EmulatedVersion, t.MinCompatibilityVersion, n)
	v.Gates(clusters.SortedKeys(t.FeatureGates), n.At("featureGates"))
	for _, api := range clusters.SortedKeys(t.RuntimeConfig) {
		if value := t.RuntimeConfig[api]; value != nil && t.Expect == nil { // a wrong value breaks kube-apiserver
			v.API(api, *value, n.At("runtimeConfig"))
		}
	}
	before := stateBefore(s, i)
	v.SchedulerChanges(before, t.Change, n.At("schedulers"))
	after := before.With(t.Change)
	for _, name := range clusters.SortedKeys(t.Components) {
		at := n.At("components")
		v.OneOf(string(name), states.Components(after), at.Key(string(name)), "component")
		if change := t.Components[name]; change != nil {
			v.OwnVersion(name, change.Version, at.At(string(name)))
			v.Gates(clusters.SortedKeys(change.FeatureGates), at.At(string(name), "featureGates"))
			v.Flags(name, clusters.SortedKeys(change.Flags), at.At(string(name), "flags"))
		}
	}
	v.Nodes(t.Nodes, n.At("nodes"))
	checkBroken(v, s, i, after, n.At("expect"))
}

// checkMethod checks the tool that makes the transition, and the action after a failure.
func checkMethod(v *validator, t *Transition, n *yamltree.Node) {
	v.OneOf(t.Method, []string{MethodKubeadm}, n.At("method"), "method of a transition")
	v.OneOf(t.OnFailure, []string{Revert}, n.At("onFailure"), "answer to a transition's failure")
	if t.Method != "" && n.Get("version") == nil {
		v.At(n.Key("method"), "add the version", "the method %s needs a version", words.Short(t.Method))
	}
	if t.Expect != nil && t.OnFailure != "" {
		v.At(n.Key("onFailure"), "use another transition to roll back",
			"a transition that is expected to break cannot be reverted")
	}
	v.notEmpty(n, "method", "onFailure")
}
