package growth

import (
	"slices"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
)

// levels is how far above a field the others are looked at that may be to blame.
const levels = 5

// around are changes of the fields beside and above the one that a complaint is about: those that the complaint
// mentions, then those with a few values to choose from, then whatever may be left out.
func (a *attempt) around(object map[string]any, place fields.Place, cause Cause) (said, switches, without []change) {
	words := mentioned(cause.Message)
	for up := 1; up <= levels && up <= len(place); up++ {
		level := place[:len(place)-up]
		f := a.kind.Root.At(level)
		if f == nil || f.Type != fields.Object {
			continue
		}
		for _, child := range f.Children {
			at := append(slices.Clone(level), child.Name())
			if place.Within(at) || a.target.Within(at) {
				continue
			}
			value, there := fields.Get(object, at)
			if words[child.Name()] {
				said = append(said, a.alternatives(at, child, value, there, cause)...)
			} else if len(child.Enum) > 0 && up <= 2 {
				switches = append(switches, a.enumerated(at, child, value)...)
			}
			if there && !child.Required && up <= 3 && !words[child.Name()] {
				without = append(without, removal(at))
			}
		}
	}
	return said, switches, without
}

// alternatives are other values of a field that a complaint mentions.
func (a *attempt) alternatives(at fields.Place, f *fields.Field, value any, there bool, cause Cause) []change {
	if !there {
		all := []change{a.put(at, f)}
		if f.Scalar() {
			for i, candidate := range a.candidates(f, cause.Message) {
				if i > 0 && i < 8 {
					all = append(all, func(object map[string]any) bool { return a.set(object, at, copyOf(candidate)) })
				}
			}
		}
		return all
	}
	var all []change
	if f.Scalar() {
		for _, candidate := range a.candidates(f, cause.Message) {
			if !same(candidate, value) && len(all) < 8 {
				all = append(all, setting(at, candidate))
			}
		}
	}
	if !f.Required {
		all = append(all, removal(at))
	}
	return all
}

func (a *attempt) enumerated(at fields.Place, f *fields.Field, value any) []change {
	var all []change
	for _, text := range f.Enum {
		if v, ok := coerce(f.Type, text); ok && !same(v, value) {
			all = append(all, func(object map[string]any) bool { return a.set(object, at, v) })
		}
	}
	return all
}
