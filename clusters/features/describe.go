package features

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Description describes a gate in one version.
type Description struct {
	// Gate is its name.
	Gate string `json:"gate"`
	// Version of Kubernetes.
	Version string `json:"version"`
	// Known reports whether the version has the gate. If not, only NeededBy below is set.
	Known bool `json:"known"`
	// Spec that is valid in the version; Default is that of a component that does not override it.
	Spec *Spec `json:"spec,omitempty"`
	// Components whose --help lists the gate, with their own default. It is empty if that is unknown: for GA and
	// deprecated gates, which no --help lists, and if the version's programs are not in the cache.
	Components map[clusters.Component]bool `json:"components,omitempty"`
	// Needs are the gates that this one requires, NeededBy those that require it.
	Needs    []string `json:"needs,omitempty"`
	NeededBy []string `json:"neededBy,omitempty"`
	// Specs are all specs of the gate in the version's list, in the order of their versions.
	Specs []Spec `json:"specs,omitempty"`
}

// Describe describes a gate in the list's version.
func (l *List) Describe(name string) Description { return l.DescribeIn(name, VersionsOf(l.Of())) }

// DescribeIn describes a gate in a component of the list's version with these emulated and compatible versions.
func (l *List) DescribeIn(name string, versions Versions) Description {
	d := Description{Gate: name, Version: l.Version, NeededBy: l.neededBy(name)}
	spec, started := l.Gates[name].in(versions)
	if !started {
		return d
	}
	d.Known, d.Spec, d.Needs, d.Specs = true, &spec, l.Gates[name].Needs, l.Gates[name].Specs
	for program, gates := range l.Programs {
		if value, named := gates[name]; named {
			if d.Components == nil {
				d.Components = map[clusters.Component]bool{}
			}
			d.Components[program] = value
		}
	}
	return d
}

// DescribeAll describes every gate of the list's version, sorted by name.
func (l *List) DescribeAll() []Description {
	var all []Description
	for _, name := range clusters.SortedKeys(l.Gates) {
		if d := l.Describe(name); d.Known {
			all = append(all, d)
		}
	}
	return all
}

func (l *List) neededBy(name string) []string {
	var all []string
	for _, other := range clusters.SortedKeys(l.Gates) {
		if slices.Contains(l.Gates[other].Needs, name) {
			all = append(all, other)
		}
	}
	return all
}

// Dependencies returns the gates that some gates require, directly or indirectly, without the gates themselves.
func (l *List) Dependencies(gates ...string) []string {
	var found []string
	for next := gates; len(next) > 0; {
		var more []string
		for _, name := range next {
			for _, need := range l.Gates[name].Needs {
				if !slices.Contains(gates, need) && !slices.Contains(found, need) {
					found, more = append(found, need), append(more, need)
				}
			}
		}
		next = more
	}
	slices.Sort(found)
	return found
}

// Dependents returns the wanted gates that require a gate, directly or through other wanted gates.
func (l *List) Dependents(gate string, wanted func(Description) bool) []string {
	var found []string
	for next := []string{gate}; len(next) > 0; {
		var more []string
		for _, needed := range next {
			for _, other := range l.Describe(needed).NeededBy {
				if d := l.Describe(other); d.Known && wanted(d) && !slices.Contains(found, other) {
					found, more = append(found, other), append(more, other)
				}
			}
		}
		next = more
	}
	slices.Sort(found)
	return found
}

// Nearest returns the gate of some lists with the most similar name, or "".
func Nearest(name string, lists ...*List) string {
	names := map[string]bool{}
	for _, list := range lists {
		for gate := range list.Gates {
			names[gate] = true
		}
	}
	return nearest(strings.TrimPrefix(name, "kube:"), clusters.SortedKeys(names))
}
