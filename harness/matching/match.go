// Package matching compares an expected partial object with the actual object, and explains the differences.
package matching

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Mismatch is one place at which the actual value differs from the wanted one.
type Mismatch struct {
	// Path of the field: spec.ports[port=80].targetPort. List elements are named by their keys, or by their index among
	// the wanted elements.
	Path string
	// Want is the wanted value; nil if the field must be absent.
	Want any
	// Got is the actual value. For an element missing from a list, it is that list with only the wanted fields.
	Got any
	// Missing says that there is no value.
	Missing bool
	// of is the missing element of a list that the difference is about; nil if it is about none.
	of *element
}

// element is a wanted element of a list that has no such element.
type element struct {
	path string
	want any
	// among are the elements of the list.
	among []any
}

// Match compares the actual value with the wanted one, and returns the differences, sorted by path. There are none if
// it matches.
//
//   - A map must have the wanted keys, and may have others. An empty map matches any map.
//   - A list must contain each wanted element, in any order, and may contain others. Elements are identified by
//     well-known keys (name, type, port and protocol, ...) if all wanted ones have them. This affects only how a
//     difference is explained. An element that is wanted twice must be there twice.
//   - An empty list matches an empty list, or none.
//   - null matches an absent field (or null).
//   - Numbers are equal if their values are equal (1 and 1.0). A number never equals a string, and quantities are
//     compared as written ("1Gi" is not "1024Mi").
//
// If want is nil, everything matches.
func Match(want, got any) []Mismatch {
	if want == nil {
		return nil
	}
	var m matcher
	m.value("", want, got)
	slices.SortStableFunc(m.found, func(a, b Mismatch) int { return strings.Compare(a.Path, b.Path) })
	return m.found
}

type matcher struct {
	found []Mismatch
}

func (m *matcher) add(path string, want, got any) {
	m.found = append(m.found, Mismatch{Path: path, Want: want, Got: got, Missing: got == nil})
}

// value compares the values at one path. If got is nil, the field is absent.
func (m *matcher) value(path string, want, got any) {
	want, got = plain(want), plain(got)
	if want == nil {
		if got != nil {
			m.add(path, nil, got)
		}
		return
	}
	if got == nil {
		if !contentWithNothing(want) {
			m.add(path, want, nil)
		}
		return
	}
	switch want := want.(type) {
	case map[string]any:
		if got, ok := got.(map[string]any); ok {
			m.fields(path, want, got)
			return
		}
	case []any:
		if got, ok := got.([]any); ok {
			m.list(path, want, got)
			return
		}
	default:
		if equalScalars(want, got) {
			return
		}
	}
	m.add(path, want, got)
}

func (m *matcher) fields(path string, want, got map[string]any) {
	for key, value := range want {
		m.value(join(path, key), value, got[key])
	}
}

func (m *matcher) list(path string, want, got []any) {
	if len(want) == 0 {
		if len(got) > 0 {
			m.add(path, want, got)
		}
		return
	}
	keys := listKeys(want)
	for i, element := range want {
		matches, closest := contained(element, got)
		if matches > earlierEqual(want, i) {
			continue
		}
		place := fmt.Sprintf("%s[%d]", path, i)
		if keys != nil {
			place = path + keyOf(element, keys)
			_, closest = contained(element, withSameKey(element, got, keys))
		}
		_, isMap := plain(element).(map[string]any)
		switch {
		case matches == 0 && isMap && closest != nil:
			m.unlike(place, want[i], got, closest)
		case len(got) == 0:
			m.add(place, element, nil)
		default:
			m.found = append(m.found, Mismatch{Path: place, Want: element, Got: cutDown(element, got), Missing: true})
		}
	}
}

// unlike adds how the closest element of a list differs from the wanted one, which none matches.
func (m *matcher) unlike(place string, want any, among []any, closest any) {
	before := len(m.found)
	m.value(place, want, closest)
	for i := range m.found[before:] {
		m.found[before+i].of = &element{place, want, among}
	}
}

// contained counts the elements that match the wanted one. It also returns the map most similar to it, if any.
func contained(want any, among []any) (matches int, closest any) {
	best := -1
	for _, candidate := range among {
		var m matcher
		// A wanted null must be null here: an element of a list cannot be absent.
		if want == nil && plain(candidate) == nil {
			matches++
			continue
		}
		m.value("", want, candidate)
		if len(m.found) == 0 && want != nil && plain(candidate) != nil {
			matches++
		}
		if _, isMap := plain(candidate).(map[string]any); !isMap {
			continue
		}
		if n := weight(m.found); best < 0 || n < best {
			best, closest = n, candidate
		}
	}
	return matches, closest
}

func earlierEqual(want []any, i int) int {
	n := 0
	for _, earlier := range want[:i] {
		if reflect.DeepEqual(earlier, want[i]) {
			n++
		}
	}
	return n
}

// contentWithNothing reports whether an absent value matches a wanted one. This is true for null, for the empty list,
// and for a map that contains only such values.
func contentWithNothing(want any) bool {
	switch want := plain(want).(type) {
	case nil:
		return true
	case []any:
		return len(want) == 0
	case map[string]any:
		for _, value := range want {
			if !contentWithNothing(value) {
				return false
			}
		}
		return len(want) > 0
	default:
		return false
	}
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

func join(path, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	default:
		return path + "." + key
	}
}
