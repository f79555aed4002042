package fields

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Path of a field: names, Item and Value.
type Path []string

// String is spec.rules[].host.
func (p Path) String() string {
	var b strings.Builder
	for i, step := range p {
		if i > 0 && step != Item && step != Value {
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
}

// Place is a path in one object: names and keys are texts, places in lists are numbers.
type Place []any

// String is spec.rules[0].host.
func (p Place) String() string {
	var b strings.Builder
	for i, step := range p {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			fmt.Fprint(&b, step)
		}
	}
	return b.String()
}

// Within says whether the place is the other one, or below it.
func (p Place) Within(other Place) bool {
	if len(p) < len(other) {
		return false
	}
	for i := range other {
		if p[i] != other[i] {
			return false
		}
	}
	return true
}

// placed is one step of the text of a place: .name, [0] or [key].
var placed = regexp.MustCompile(`^(?:\.?([^.\[\]]+)|\[([^\]]*)\])`)

// ParsePlace reads the path that an API server names in a refusal: spec.containers[0].resources.limits[cpu]. Names that
// have dots in them are read as one where an object's schema has a map.
func ParsePlace(text string) Place {
	var p Place
	for text != "" {
		m := placed.FindStringSubmatch(text)
		if m == nil {
			return p
		}
		text = text[len(m[0]):]
		switch n, err := strconv.Atoi(m[2]); {
		case m[1] != "":
			p = append(p, m[1])
		case err == nil:
			p = append(p, n)
		default:
			p = append(p, strings.Trim(m[2], `"`))
		}
	}
	return p
}

// Get is the value at a place.
func Get(object any, at Place) (any, bool) {
	for _, step := range at {
		switch step := step.(type) {
		case string:
			m, ok := object.(map[string]any)
			if !ok {
				return nil, false
			}
			if object, ok = m[step]; !ok {
				return nil, false
			}
		case int:
			l, ok := object.([]any)
			if !ok || step >= len(l) {
				return nil, false
			}
			object = l[step]
		}
	}
	return object, true
}

// Set puts a value at a place whose parents are there; false where they are not.
func Set(object map[string]any, at Place, value any) bool {
	if len(at) == 0 {
		return false
	}
	parent, ok := Get(object, at[:len(at)-1])
	if !ok {
		return false
	}
	switch step := at[len(at)-1].(type) {
	case string:
		m, ok := parent.(map[string]any)
		if ok {
			m[step] = value
		}
		return ok
	case int:
		l, ok := parent.([]any)
		if !ok || step > len(l) {
			return false
		}
		if step < len(l) {
			l[step] = value
			return true
		}
		return Set(object, at[:len(at)-1], append(l, value))
	}
	return false
}

// Remove takes out what is at a place; the list that it was the last item of goes with it.
func Remove(object map[string]any, at Place) bool {
	if _, ok := Get(object, at); !ok || len(at) == 0 {
		return false
	}
	parent, _ := Get(object, at[:len(at)-1])
	switch step := at[len(at)-1].(type) {
	case string:
		delete(parent.(map[string]any), step)
	case int:
		l := parent.([]any)
		if len(l) == 1 {
			return Remove(object, at[:len(at)-1])
		}
		rest := append(append([]any{}, l[:step]...), l[step+1:]...)
		return Set(object, at[:len(at)-1], rest)
	}
	return true
}

// At is the field that a place in an object belongs to; nil where the schema has none.
func (f *Field) At(place Place) *Field {
	at := f
	for _, step := range place {
		switch {
		case at == nil:
			return nil
		case at.Type == List:
			at = at.Child(Item)
		case at.Type == Map:
			at = at.Child(Value)
		default:
			name, ok := step.(string)
			if !ok {
				return nil
			}
			at = at.Child(name)
		}
	}
	return at
}

// Leaves are the places of an object that hold no further fields, those of empty lists and maps with them.
func Leaves(object any) []Place { return leaves(object, nil) }

func leaves(object any, at Place) []Place {
	var all []Place
	below := func(step any, value any) {
		all = append(all, leaves(value, append(append(Place{}, at...), step))...)
	}
	switch object := object.(type) {
	case map[string]any:
		for _, name := range sortedKeys(object) {
			below(name, object[name])
		}
	case []any:
		for i, item := range object {
			below(i, item)
		}
	}
	if len(all) == 0 && len(at) > 0 {
		return []Place{at}
	}
	return all
}
