package starters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
)

// Gate is a feature gate, with the gates that must be set with it.
type Gate struct {
	Name string
	// Version is the newest of the given versions in which the gate can be off and on: "1.36".
	Version string
	// Needs are the gates that must be on if this one is on. Dependents are on by default, and must be off if this one
	// is off.
	Needs, Dependents []string
	// Components that get the gate; none for all of them.
	Components []clusters.Component
	// History describes the gate in each known version.
	History []features.Description
	// absent are the Needs and Dependents that a minor version does not have.
	absent map[string][]string
}

// NewGate finds the newest of the lists in which a gate can be off and on. The lists are sorted by version. The
// gate's history has all of the known lists.
func NewGate(name string, lists, known []*features.List) (*Gate, error) {
	gate := &Gate{Name: name}
	for _, list := range known {
		d := list.Describe(name)
		if n := len(gate.History); n > 0 && sameMinor(gate.History[n-1].Version, d.Version) {
			gate.History = gate.History[:n-1] // its newest patch is enough
		}
		gate.History = append(gate.History, d)
	}
	for _, list := range slices.Backward(lists) {
		if gate.switches(list) {
			gate.Version = list.Of().MinorString()
			gate.findAbsent(known)
			return gate, nil
		}
	}
	var where []string
	for _, d := range gate.History {
		where = append(where, d.Version+": "+state(d))
	}
	return nil, fmt.Errorf("feature gate %s cannot be both off and on in Kubernetes %s (%s); name a version where it can "+
		"with --version, or get its programs first: rehearse fetch VERSION", name, versionsOf(lists),
		strings.Join(where, "; "))
}

func (g *Gate) findAbsent(known []*features.List) {
	g.absent = map[string][]string{}
	for _, list := range known {
		var absent []string
		for _, name := range slices.Concat(g.Needs, g.Dependents) {
			if !list.Describe(name).Known {
				absent = append(absent, name)
			}
		}
		g.absent[list.Of().MinorString()] = absent
	}
}

func versionsOf(lists []*features.List) string {
	var all []string
	for _, list := range lists {
		all = append(all, list.Version)
	}
	return strings.Join(all, ", ")
}

func sameMinor(a, b string) bool {
	v, _ := clusters.ParseVersion(a) // a list's version is always valid
	w, _ := clusters.ParseVersion(b)
	return v.MinorString() == w.MinorString()
}

// switches reports whether the gate can be off and on in the list's version, and records what must be set with it.
func (g *Gate) switches(list *features.List) bool {
	if !list.Describe(g.Name).Known {
		return false
	}
	g.Needs, g.Components = list.Dependencies(g.Name), nil
	g.Dependents = list.Dependents(g.Name, func(d features.Description) bool { return d.Spec.Default })
	var settable []clusters.Component
	all := clusters.ControlPlane()
	all = slices.DeleteFunc(all, func(c clusters.Component) bool { return c == clusters.Etcd })
	for _, component := range all {
		if len(list.Check(features.VersionsOf(list.Of()), component, g.Values(false))) == 0 &&
			len(list.Check(features.VersionsOf(list.Of()), component, g.Values(true))) == 0 {
			settable = append(settable, component)
		}
	}
	if len(settable) < len(all) {
		g.Components = settable
	}
	return len(settable) > 0
}

// Values are the values of the gate, and of the gates that are set with it.
func (g *Gate) Values(on bool) map[string]bool {
	values := map[string]bool{g.Name: on}
	for _, need := range g.Needs {
		values[need] = true
	}
	for _, other := range g.Dependents {
		values[other] = on
	}
	return values
}

// setting is the field of a state, or of a transition, that sets gates: in one line of YAML. If a version is given, it
// leaves out the gates that this version does not have; a transition removes them.
func (g *Gate) setting(values map[string]bool, version string, transition bool) string {
	var words []string
	for _, name := range clusters.SortedKeys(values) {
		switch absent := slices.Contains(g.absent[version], name); {
		case !absent:
			words = append(words, fmt.Sprintf("%s: %t", name, values[name]))
		case transition:
			words = append(words, name+": null")
		}
	}
	return g.field("{" + strings.Join(words, ", ") + "}")
}

// unset is the field of a transition that removes the gates again.
func (g *Gate) unset() string {
	var words []string
	for _, name := range clusters.SortedKeys(g.Values(false)) {
		words = append(words, name+": null")
	}
	return g.field("{" + strings.Join(words, ", ") + "}")
}

func (g *Gate) field(gates string) string {
	if len(g.Components) == 0 {
		return "featureGates: " + gates
	}
	var each []string
	for _, component := range g.Components {
		each = append(each, fmt.Sprintf("%s: {featureGates: %s}", component, gates))
	}
	return "components: {" + strings.Join(each, ", ") + "}"
}

// state describes a gate in a version, in a few words.
func state(d features.Description) string {
	switch {
	case !d.Known:
		return "not there"
	case d.Spec.Locked:
		return fmt.Sprintf("%s, locked to %s", d.Spec.Stage, onOff(d.Spec.Default))
	default:
		return fmt.Sprintf("%s, %s by default", d.Spec.Stage, onOff(d.Spec.Default))
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
