package features

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Description is what a gate is in one version, for a person.
type Description struct {
	// Gate by its name.
	Gate string `json:"gate"`
	// Version of Kubernetes.
	Version string `json:"version"`
	// Known says whether the version has the gate; nothing below is set where it does not.
	Known bool `json:"known"`
	// Spec that holds at the version; Default is that of a component that does not override it.
	Spec *Spec `json:"spec,omitempty"`
	// Components whose --help names the gate, with the default that each has; none where that is not known: for GA and
	// deprecated gates, which no --help names, and where the version's programs are not in the cache.
	Components map[clusters.Component]bool `json:"components,omitempty"`
	// Needs are the gates that must be on where this one is, NeededBy those that need it.
	Needs    []string `json:"needs,omitempty"`
	NeededBy []string `json:"neededBy,omitempty"`
	// Specs are all that the version's list tells of the gate, by their versions.
	Specs []Spec `json:"specs,omitempty"`
}

// Describe says what a gate is in the list's version.
func (l *List) Describe(name string) Description { return l.DescribeIn(name, VersionsOf(l.Of())) }

// DescribeIn says what a gate is in a component of the list's version that goes by these versions.
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

// DescribeAll says what every gate of the list's version is, by name.
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

// Dependencies are the gates that some gates need, and what those need, without the gates themselves.
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

// Dependents are the gates that need one, and those that need these, where they are wanted.
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

// Nearest is the gate of some lists that a misspelt name may mean, or "".
func Nearest(name string, lists ...*List) string {
	names := map[string]bool{}
	for _, list := range lists {
		for gate := range list.Gates {
			names[gate] = true
		}
	}
	return nearest(strings.TrimPrefix(name, "kube:"), clusters.SortedKeys(names))
}
