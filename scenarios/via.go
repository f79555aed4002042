package scenarios

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// Via chooses which of several API servers a step asks: the number of its control plane (starting at 0), new, old or
// each. new and old are the first API server with the newest or the oldest version. If all have the same version, new
// is the first one that a transition with upTo has reached, and old the first one that it has not reached. With each,
// every API server that runs must give the expected answer.
type Via string

// Words that choose an API server.
const (
	ViaNew  Via = "new"
	ViaOld  Via = "old"
	ViaEach Via = "each"
)

// UnmarshalScalar reads a number or a word.
func (v *Via) UnmarshalScalar(text string) error {
	*v = Via(text)
	return nil
}

// ViaPlane chooses the API server of a control plane.
func ViaPlane(plane int) Via { return Via(strconv.Itoa(plane)) }

// Plane returns the number of the control plane; -1 for a word.
func (v Via) Plane() int {
	n, err := strconv.Atoi(string(v))
	if err != nil {
		return -1
	}
	return n
}

// from describes what is asked, for messages.
func (v Via) from() string {
	if v == "" {
		return "without via"
	}
	return "with via: " + words.Short(string(v))
}

// checkVia checks the API server that a step chooses, and that the step can choose one.
func checkVia(v *validator, s *Scenario, i int, n *yamltree.Node) {
	at := n.Get("via")
	if at == nil {
		return
	}
	step := &s.Spec.Steps[i]
	verb, planes := step.verb(), s.Spec.Cluster.NumberOfControlPlanes()
	names := []Via{ViaNew, ViaOld, ViaEach}
	switch {
	case !verb.write && !verb.asksOne:
		v.At(n.Key("via"), "", "a %s cannot choose an API server", verb.name)
	case planes == 1:
		v.At(at, "set controlPlanes: 2 in spec.cluster", "the cluster has only one control plane")
	case slices.Contains(names, step.Via):
		checkViaWord(v, s, i, at)
	case step.Via.Plane() < 0:
		v.At(at, "", "want the number of a control plane, new, old or each, not %q", words.Short(string(step.Via)))
	case step.Via.Plane() >= planes:
		v.At(at, fmt.Sprintf("the last one is %d", planes-1), "the cluster has no control plane %d", step.Via.Plane())
	}
	if len(step.throughout()) > 0 && (step.Via == ViaNew || step.Via == ViaOld) {
		v.At(at, "give the number of its control plane, or each", "via: %s is a different API server after each "+
			"transition, so throughout cannot use it", step.Via)
	}
	checkViaComponent(v, step, n)
}

func checkViaWord(v *validator, s *Scenario, i int, at *yamltree.Node) {
	step := &s.Spec.Steps[i]
	verb := step.verb()
	switch {
	case step.Via == ViaEach && (verb.write || verb.changesCluster):
		v.At(at, "each is only for reads", "a %s runs only once", verb.name)
	case step.Via != ViaEach && !held(s, i):
		v.At(at, "put a transition with upTo before this step", "all API servers have the same state here: none is %s",
			step.Via)
	}
}

// held reports whether the last transition before the i-th step stopped while the API servers had different states.
func held(s *Scenario, i int) bool {
	for j, step := range slices.Backward(s.Spec.Steps[:i]) {
		t := step.Transition
		switch {
		case t == nil:
			continue
		case t.Order != APIServersFirst:
			return t.UpTo > 0
		}
		planes := s.Spec.Cluster.NumberOfControlPlanes()
		from, to := versionBefore(s, j), stateBefore(s, j).With(t.Change).Version
		first, last := t.UpTo > 0 && t.UpTo < planes, t.UpTo > t.Roll().Most(planes)-planes
		return first && !older(to, from) || last && !older(from, to)
	}
	return false
}

// versionBefore returns the version of the last state before the i-th step that all control planes had reached.
func versionBefore(s *Scenario, i int) string {
	for j, step := range slices.Backward(s.Spec.Steps[:i]) {
		if step.Transition == nil {
			continue
		}
		if step.Transition.UpTo == 0 {
			break
		}
		i = j
	}
	return stateBefore(s, i).Version
}

// older reports whether one version is older than another.
func older(one, other string) bool {
	a, err1 := clusters.ParseVersion(one)
	b, err2 := clusters.ParseVersion(other)
	return err1 == nil && err2 == nil && a.Compare(b) < 0
}

// checkViaComponent checks that the component or system of a step runs on every control plane.
func checkViaComponent(v *validator, step *Step, n *yamltree.Node) {
	of := step.verb().component
	if of == nil || slices.Contains(clusters.ControlPlane(), of(step).Component) {
		return
	}
	v.At(n.Key("via"), fmt.Sprintf("there are %v on each", clusters.ControlPlane()),
		"the step's object is not on every control plane")
}

// checkUpTo checks the order of a transition, and where it stops.
func checkUpTo(v *validator, s *Scenario, t *Transition, n *yamltree.Node) {
	v.OneOf(t.Order, []string{APIServersFirst}, n.At("order"), "order of a transition")
	v.notEmpty(n, "order")
	if t.Method != "" && t.Order != "" {
		v.At(n.Key("order"), "", "the method %s has its own order", words.Short(t.Method))
	}
	at := n.Get("upTo")
	if at == nil {
		return
	}
	planes := s.Spec.Cluster.NumberOfControlPlanes()
	most := t.Roll().Most(planes) - 1
	switch {
	case t.Order == APIServersFirst && (t.UpTo < 1 || t.UpTo > most):
		v.At(at, "leave it out to change all of them", "with %d components, a transition can stop "+
			"after 1 to %d, not %d",
			most+1, most, t.UpTo)
	case t.Order == APIServersFirst:
	case planes == 1:
		v.At(at, "set controlPlanes: 2 in spec.cluster",
			"the cluster has only one control plane, so the transition cannot stop partway")
	case t.UpTo < 1 || t.UpTo >= planes:
		v.At(at, "leave it out to change all of them", "with %d control planes, a transition can stop "+
			"after 1 to %d, not %d",
			planes, most, t.UpTo)
	}
	if t.Method != "" {
		v.At(n.Key("upTo"), "", "the method %s changes all control planes", words.Short(t.Method))
	}
}
