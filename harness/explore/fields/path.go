package fields

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Path of a field. Its steps are names, Item and Value.
type Path []string

// String formats the path, such as spec.rules[].host.
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

// Place is a path in one object. Names and keys are strings, list indices are ints.
type Place []any

// String formats the place, such as spec.rules[0].host.
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

// Within reports whether the place is equal to the other one or below it.
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

// placed matches one step of a place: .name, [0] or [key].
var placed = regexp.MustCompile(`^(?:\.?([^.\[\]]+)|\[([^\]]*)\])`)

// ParsePlace parses a path in a rejection of an API server, such as spec.containers[0].resources.limits[cpu]. A name
// with dots that is not in brackets becomes several steps.
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

// Get returns the value at a place, and whether there is one.
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

// Set sets the value at a place. It returns false if a parent is missing.
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

// Remove removes the value at a place, and reports whether there was one. It also removes a list that becomes empty.
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

// At is the field of a place in an object; nil if the schema has none.
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

// Leaves are the places of an object without further fields below them, including empty lists and maps.
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

// Zero reports whether a value is a zero value, which an API server may drop.
func Zero(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case bool:
		return !value
	case string:
		return value == ""
	case int64:
		return value == 0
	case float64:
		return value == 0
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}
