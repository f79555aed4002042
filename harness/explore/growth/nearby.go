package growth

import (
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
)

// levels is how many levels above a field are searched for other fields that may cause a rejection.
const levels = 5

// nearby are changes of fields next to and above the rejected one: fields that the message mentions, fields with
// enumerated values, and removals of optional fields.
func (a *attempt) nearby(object map[string]any, place fields.Place, cause Cause) (said, switches, without []change) {
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
			} else if up <= 2 {
				switches = append(switches, a.enumerated(at, child, value)...)
			}
			if there && !child.Required && up <= 3 && !words[child.Name()] {
				without = append(without, removal(at))
			}
		}
	}
	return said, switches, without
}

// alternatives are other values of a field that a message mentions.
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

// enumerated are the other values of an enumeration: those of the field's schema, or those of its documentation that
// name the target.
func (a *attempt) enumerated(at fields.Place, f *fields.Field, value any) []change {
	choices := f.Enum
	if len(choices) == 0 && f.Type == fields.String {
		choices = slices.DeleteFunc(documented(f.Description), func(text string) bool { return !a.named(text) })
	}
	var all []change
	for _, text := range choices {
		if v, ok := coerce(f.Type, text); ok && !same(v, value) {
			all = append(all, func(object map[string]any) bool { return a.set(object, at, v) })
		}
	}
	return all
}

// named reports whether a text is the name of the target or of a field above it.
func (a *attempt) named(text string) bool {
	return slices.ContainsFunc(a.target, func(step any) bool {
		name, isName := step.(string)
		return isName && strings.EqualFold(name, text)
	})
}

// besides removes, one after the other, the siblings of the target and of the fields above it. It helps if only one of
// several fields may be set: members of a union.
func (a *attempt) besides(object map[string]any, place fields.Place) []change {
	var all []change
	if len(a.target) <= len(place) || !a.target.Within(place) {
		return nil
	}
	for n := len(place); n < len(a.target); n++ {
		level := a.target[:n:n]
		f, here := a.kind.Root.At(level), map[string]any(nil)
		if value, there := fields.Get(object, level); there {
			here, _ = value.(map[string]any)
		}
		for _, name := range slices.Sorted(maps.Keys(here)) {
			if f == nil || name == a.target[n] {
				continue
			}
			if child := f.Child(name); child != nil && !child.Required {
				all = append(all, removal(append(slices.Clone(level), name)))
			}
		}
	}
	return all
}

// together sets several siblings of the rejected field to values that the message mentions: "may only be set when
// `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'".
func (a *attempt) together(place fields.Place, cause Cause) []change {
	if len(place) == 0 {
		return nil
	}
	level := place[:len(place)-1]
	f := a.kind.Root.At(level)
	words, texts := mentioned(cause.Message), quotedIn(cause.Message)
	wanted := map[string]any{}
	for _, child := range childrenOf(f) {
		at := slices.IndexFunc(child.Enum, func(value string) bool { return slices.Contains(texts, value) })
		if words[child.Name()] && at >= 0 {
			wanted[child.Name()] = child.Enum[at]
		}
	}
	if len(wanted) < 2 {
		return nil
	}
	return []change{func(object map[string]any) bool {
		changed := true
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			changed = a.set(object, append(slices.Clone(level), name), wanted[name]) && changed
		}
		return changed
	}}
}

func childrenOf(f *fields.Field) []*fields.Field {
	if f == nil || f.Type != fields.Object {
		return nil
	}
	return f.Children
}
