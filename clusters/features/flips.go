package features

import (
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Flip is the change of an unset feature gate when a component changes its version. No list says which fields or
// kinds depend on a gate.
type Flip struct {
	// Gate is its name.
	Gate string `json:"gate"`
	// Kind of the change.
	Kind FlipKind `json:"kind"`
	// Before and After are the specs of the gate in the two versions, with the components' own default; nil if the
	// version does not have the gate.
	Before *Spec `json:"before,omitempty"`
	After  *Spec `json:"after,omitempty"`
	// Components in which it changes, as far as their --help is known; empty if it is unknown.
	Components []clusters.Component `json:"components,omitempty"`
}

// FlipKind is the kind of a Flip.
type FlipKind string

// The kinds of flips. A gate that turns on or off may also be locked.
const (
	TurnsOn  FlipKind = "turns on"
	TurnsOff FlipKind = "turns off"
	Locks    FlipKind = "locked"
	Unlocks  FlipKind = "unlocked"
	Appears  FlipKind = "new"
	Vanishes FlipKind = "removed"
)

// FlipKinds lists all kinds: first those that can change behaviour by default.
func FlipKinds() []FlipKind {
	return []FlipKind{TurnsOn, TurnsOff, Appears, Vanishes, Locks, Unlocks}
}

// ChangesDefault reports whether behaviour changes for users who do not set the gate: it turns on or off, is added
// with the default on, or is removed without having been locked.
func (f Flip) ChangesDefault() bool {
	switch f.Kind {
	case TurnsOn, TurnsOff:
		return true
	case Appears:
		return f.After.Default
	case Vanishes:
		return !f.Before.Locked
	}
	return false
}

// Flips lists the gates that change between two versions, up or down, by kind and name. A change of only the stage is
// left out. A gate that changes differently in some components is listed once for each change.
func Flips(from, to *List) []Flip {
	names := maps.Clone(from.Gates)
	maps.Copy(names, to.Gates)
	var all []Flip
	for _, name := range clusters.SortedKeys(names) {
		all = append(all, flipsOf(name, from, to)...)
	}
	kinds := FlipKinds()
	slices.SortStableFunc(all, func(a, b Flip) int {
		return slices.Index(kinds, a.Kind) - slices.Index(kinds, b.Kind)
	})
	return all
}

func flipsOf(name string, from, to *List) []Flip {
	var all []Flip
	for _, component := range knowing(name, from, to) {
		f := Flip{Gate: name, Before: from.in(component, name), After: to.in(component, name)}
		if f.Kind = kindOf(f.Before, f.After); f.Kind == "" {
			continue
		}
		if component != "" {
			f.Components = []clusters.Component{component}
		}
		i := slices.IndexFunc(all,
			func(known Flip) bool { return same(known.Before, f.Before) && same(known.After, f.After) })
		if i < 0 {
			all = append(all, f)
			continue
		}
		all[i].Components = append(all[i].Components, f.Components...)
	}
	return all
}

// knowing returns the programs that have the gate in any list; only "" (all programs) if none is known to.
func knowing(name string, lists ...*List) []clusters.Component {
	found := map[clusters.Component]bool{}
	for _, list := range lists {
		for program := range list.Programs {
			if list.names(program, name) {
				found[program] = true
			}
		}
	}
	if len(found) == 0 {
		return []clusters.Component{""}
	}
	return clusters.SortedKeys(found)
}

// in returns the gate's spec in a program, with the program's default; nil if the program does not know it.
func (l *List) in(program clusters.Component, name string) *Spec {
	spec, started := l.Gates[name].in(l.versions())
	if !started {
		return nil
	}
	if _, asked := l.Programs[program]; !asked || !spec.inHelp() {
		return &spec
	}
	if !l.names(program, name) {
		return nil
	}
	spec.Default = l.Programs[program][name]
	return &spec
}

func kindOf(before, after *Spec) FlipKind {
	switch {
	case before == nil && after == nil:
		return ""
	case before == nil:
		return Appears
	case after == nil:
		return Vanishes
	case !before.Default && after.Default:
		return TurnsOn
	case before.Default && !after.Default:
		return TurnsOff
	case !before.Locked && after.Locked:
		return Locks
	case before.Locked && !after.Locked:
		return Unlocks
	}
	return ""
}

func same(a, b *Spec) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

// String returns the change in a few words: "Alpha, off -> Beta, on".
func (f Flip) String() string {
	return f.Before.words() + " -> " + f.After.words()
}

// words returns the spec in a few words: "GA, on, locked"; "absent" for nil.
func (s *Spec) words() string {
	if s == nil {
		return "absent"
	}
	words := []string{string(s.Stage), "off"}
	if s.Default {
		words[1] = "on"
	}
	if s.Locked {
		words = append(words, "locked")
	}
	return strings.Join(words, ", ")
}
