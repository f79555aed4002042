package features

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Problem is the reason why a component would not start with the given gates.
type Problem struct {
	// Gate that has the problem.
	Gate string
	// Component that would reject it.
	Component clusters.Component
	// Message is a whole sentence: what is wrong, in which version, and what to do.
	Message string
}

// String returns the message.
func (p Problem) String() string { return p.Message }

// enforcesNeeds is the first version whose components do not start if a gate is on without its dependencies.
var enforcesNeeds = clusters.Version{Major: 1, Minor: 35, Patch: -1}

// Check returns the problems of gates that a component would reject at start, sorted by gate. The versions are the
// release's own (VersionsOf), or those that the component's flags set (VersionsIn). A gate may have the prefix
// "kube:", as on the command line. A component without Kubernetes gates (etcd) has no problems.
func (l *List) Check(versions Versions, component clusters.Component, gates map[string]bool) []Problem {
	if component == clusters.Etcd {
		return nil
	}
	c := check{list: l, versions: versions, component: component, set: map[string]bool{}}
	c.version = versions.Emulated
	if own := VersionsOf(l.Of()); versions.Emulated == own.Emulated {
		c.version = l.Of()
		c.byDefault = versions == own
	}
	for _, given := range clusters.SortedKeys(gates) {
		name := strings.TrimPrefix(given, "kube:")
		c.set[name] = gates[given]
		c.value(name, gates[given])
	}
	if l.Of().Compare(enforcesNeeds) >= 0 { // at every emulated version
		for _, name := range clusters.SortedKeys(l.Gates) {
			c.needs(name)
		}
	}
	slices.SortStableFunc(c.problems, func(a, b Problem) int { return strings.Compare(a.Gate, b.Gate) })
	return c.problems
}

type check struct {
	list     *List
	versions Versions
	// version is the one whose gates the component has, with its patch if that is known.
	version clusters.Version
	// byDefault reports whether the versions are the release's own. A program's --help is valid only for these.
	byDefault bool
	component clusters.Component
	set       map[string]bool
	problems  []Problem
}

func (c *check) report(gate, format string, args ...any) {
	c.problems = append(c.problems, Problem{Gate: gate, Component: c.component, Message: fmt.Sprintf(format, args...)})
}

// value checks one gate by itself.
func (c *check) value(name string, value bool) {
	if name == allAlpha || name == allBeta {
		return
	}
	gate, known := c.list.Gates[name]
	if !known {
		c.report(name, "feature gate %s is unknown to Kubernetes %s; %s", name, c.version,
			c.list.advice(name, c.version))
		return
	}
	spec, started := gate.in(c.versions)
	if !started {
		first := gate.Specs[0].Since
		c.report(name,
			"feature gate %s cannot be set in Kubernetes %s; it was added in %s: use that version or a newer one, "+
				"or omit the gate (null in a transition)",
			name, c.version, first)
		return
	}
	if spec.Locked && spec.Default != value {
		c.report(name,
			"feature gate %s cannot be %t in Kubernetes %s: it is locked to %t since %s (%s); omit the gate (null "+
				"in a transition)",
			name, value, c.version, spec.Default, spec.Since, spec.Stage)
		return
	}
	c.program(name, spec)
}

// program checks that this program knows the gate: some gates exist only in one component.
func (c *check) program(name string, spec Spec) {
	if !c.asked(spec) || c.list.names(c.component, name) {
		return
	}
	var knowing []string
	for _, other := range clusters.SortedKeys(c.list.Programs) {
		if c.list.names(other, name) {
			knowing = append(knowing, string(other))
		}
	}
	advice := "leave it out for this component"
	if len(knowing) > 0 {
		does := "does"
		if len(knowing) > 1 {
			does = "do"
		}
		them := strings.Join(knowing, " and ")
		advice = fmt.Sprintf("%s %s know it: set it only for %s", them, does, them)
	}
	c.report(name, "feature gate %s is unknown to %s of Kubernetes %s; %s", name, c.component, c.version, advice)
}

// asked reports whether the component's --help is known and lists gates of that spec's stage at that version.
func (c *check) asked(s Spec) bool {
	_, asked := c.list.Programs[c.component]
	return asked && c.byDefault && s.inHelp()
}

func (l *List) names(program clusters.Component, gate string) bool {
	_, named := l.Programs[program][gate]
	return named
}

// needs checks that the gates that a gate requires are on if it is on.
func (c *check) needs(name string) {
	gate := c.list.Gates[name]
	if len(gate.Needs) == 0 || !c.on(name) || !c.has(name) {
		return
	}
	for _, need := range gate.Needs {
		if _, known := c.list.Gates[need]; !known || c.on(need) {
			continue
		}
		c.report(name,
			"feature gate %s is on%s in %s of Kubernetes %s but needs %s, which is off%s; set %s to true too, or %s to false",
			name, c.because(name), c.component, c.version, need, c.because(need), need, name)
	}
}

// has reports whether the component may have the gate, as far as is known.
func (c *check) has(name string) bool {
	spec, started := c.list.Gates[name].in(c.versions)
	return started && (!c.asked(spec) || c.list.names(c.component, name))
}

// on returns the effective value of a gate.
func (c *check) on(name string) bool {
	if value, set := c.set[name]; set {
		return value
	}
	spec, started := c.list.Gates[name].in(c.versions)
	if !started {
		return false
	}
	if value, set := c.set[allAlpha]; set && spec.Stage == Alpha {
		return value
	}
	if value, set := c.set[allBeta]; set && spec.Stage == Beta {
		return value
	}
	if value, named := c.list.Programs[c.component][name]; named && c.byDefault {
		return value
	}
	return spec.Default
}

// because returns the source of a gate's value; "" if the gate itself was set.
func (c *check) because(name string) string {
	if _, set := c.set[name]; set {
		return ""
	}
	spec, _ := c.list.Gates[name].in(c.versions)
	if _, set := c.set[allAlpha]; set && spec.Stage == Alpha {
		return " through AllAlpha"
	}
	if _, set := c.set[allBeta]; set && spec.Stage == Beta {
		return " through AllBeta"
	}
	return " by default"
}
