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
	// Force rehearses what the version skew policy forbids: a skipped minor, a downgrade of more than one.
	Force bool `json:"force,omitempty"`
	// Expect is what is expected of the transition. Default: that the cluster reaches the state.
	Expect *TransitionExpect `json:"expect,omitempty"`
	// UpTo stops the transition as soon as that many of the cluster's control planes are in the state: API servers of two
	// states then serve side by side, and steps run meanwhile (via says which of them a step asks). The next transition
	// goes on, or back. With order: apiServersFirst it counts components: of three control planes 1 to 3 are API servers,
	// 4 to 6 controller managers and 7 and 8 schedulers, and to an older version the other way round. Default: all of
	// them.
	UpTo int `json:"upTo,omitempty"`
	// Order in which control planes are changed (local). Default: each as a whole, one after the other, as kubeadm does
	// it: upward from number 0, downward from the last. apiServersFirst, as the version skew policy wants it: all API
	// servers, then all controller managers, then all schedulers, one after the other; to an older version the other way
	// round.
	Order string `json:"order,omitempty"`
	// Method is the tool by which a kind cluster goes up to a version: kubeadm, for those who rehearse that very tool.
	// Default: the provider's own way.
	Method string `json:"method,omitempty"`
	// OnFailure says what becomes of a cluster that does not reach the state: revert takes it back to the state before, so
	// that it can be used. The step fails nevertheless. Default: the cluster is left as it is.
	OnFailure string `json:"onFailure,omitempty"`
}

// TransitionExpect is what is expected of a transition.
type TransitionExpect struct {
	// Broken: the cluster does not reach the state, because of one component. Another transition must follow, or nothing.
	Broken *Broken `json:"broken"`
}

// Values of Method, OnFailure and Order.
const (
	MethodKubeadm   = "kubeadm"
	Revert          = "revert"
	APIServersFirst = "apiServersFirst"
)

// Roll is the order of the transition, and where it stops.
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
	before := stateBefore(s, i)
	v.SchedulerChanges(before, t.Change, n.At("schedulers"))
	after := before.With(t.Change)
	for _, name := range clusters.SortedKeys(t.Components) {
		at := n.At("components")
		v.OneOf(string(name), states.Components(after), at.Key(string(name)), "component")
		if change := t.Components[name]; change != nil {
			v.OwnVersion(name, change.Version, at.At(string(name)))
			v.Gates(clusters.SortedKeys(change.FeatureGates), at.At(string(name), "featureGates"))
			v.Flags(clusters.SortedKeys(change.Flags), at.At(string(name), "flags"))
		}
	}
	v.Nodes(t.Nodes, n.At("nodes"))
	checkBroken(v, s, i, after, n.At("expect"))
}

// checkMethod checks how the transition is made, and what follows when it fails.
func checkMethod(v *validator, t *Transition, n *yamltree.Node) {
	v.OneOf(t.Method, []string{MethodKubeadm}, n.At("method"), "method of a transition")
	v.OneOf(t.OnFailure, []string{Revert}, n.At("onFailure"), "answer to a transition's failure")
	if t.Method != "" && n.Get("version") == nil {
		v.At(n.Key("method"), "give the version to go to", "the method %s is a way to another version", words.Short(t.Method))
	}
	if t.Expect != nil && t.OnFailure != "" {
		v.At(n.Key("onFailure"), "another transition can take the cluster back",
			"a transition that is expected to break is not taken back")
	}
	for _, name := range []string{"method", "onFailure"} {
		if at := n.Get(name); at != nil && at.Text == "" {
			v.At(at, "leave it out", "%s is empty", name)
		}
	}
}
