package features

import (
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Flip is what becomes of a feature gate that nobody sets when a component goes from one version to another. Which
// fields or kinds a gate is about no list says.
type Flip struct {
	// Gate by its name.
	Gate string `json:"gate"`
	// Kind of the change.
	Kind FlipKind `json:"kind"`
	// Before and After are what the gate is in each of the versions, with the components' own default; nil where the
	// version does not know it.
	Before *Spec `json:"before,omitempty"`
	After  *Spec `json:"after,omitempty"`
	// Components that the change happens in, as far as their --help was read; none where that is not known.
	Components []clusters.Component `json:"components,omitempty"`
}

// FlipKind is the kind of change that a Flip is.
type FlipKind string

// The kinds of flips. A gate that turns on or off may be locked, too.
const (
	TurnsOn  FlipKind = "turns on"
	TurnsOff FlipKind = "turns off"
	Locks    FlipKind = "locked"
	Unlocks  FlipKind = "unlocked"
	Appears  FlipKind = "new"
	Vanishes FlipKind = "removed"
)

// FlipKinds lists them all: first what changes behaviour by itself.
func FlipKinds() []FlipKind {
	return []FlipKind{TurnsOn, TurnsOff, Appears, Vanishes, Locks, Unlocks}
}

// ChangesDefault says whether behaviour changes for who sets no gate: the gate turns on or off, comes on by default,
// or goes without having been locked before.
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

// Flips lists the gates that change between two versions, up or down, by their kind and name. A gate whose stage alone
// changes is not among them. A gate that changes differently in some components is there once for each way.
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

// knowing are the programs that are known to have the gate in some of the lists, or "" for all of them where none is.
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

// in is what the gate is in a program of the list's versions by default, nil where it does not know it.
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

// String is the change in a few words: "Alpha, off -> Beta, on".
func (f Flip) String() string {
	return f.Before.words() + " -> " + f.After.words()
}

// words are the spec in a few words: "GA, on, locked"; "absent" for none.
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
