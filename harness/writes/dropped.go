package writes

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/matching"
	"github.com/rehearse-dev/rehearse/scenarios/fieldpath"
)

// Dropped is a field that was sent and is not in the returned object. A field that is there with another value is not
// dropped: webhooks, policies and the API server itself may change values.
type Dropped struct {
	// Path of names (string) and indexes in lists as they were sent (int).
	Path []any
	// Value that was sent.
	Value any
}

// String is the path.
func (d Dropped) String() string { return fieldpath.Format(d.Path) }

// piece is a part of what was sent, and where it belongs: a whole object, a merge patch, or what one operation of a
// JSON patch sets.
type piece = Dropped

// lostOf returns what of the pieces is not in the returned object.
func lostOf(pieces []piece, got map[string]any) []Dropped {
	var all []Dropped
	for _, p := range pieces {
		all = append(all, lostAt(nil, p.Path, p.Value, readable(got))...)
	}
	return all
}

// lostAt follows the steps from a path to where a value was sent, and compares it there.
func lostAt(path, steps []any, sent, got any) []Dropped {
	if len(steps) == 0 {
		return lost(path, sent, got)
	}
	gone := []Dropped{{append(slices.Clone(path), steps...), sent}}
	next := append(slices.Clone(path), steps[0])
	switch got := got.(type) {
	case map[string]any:
		if name := fmt.Sprint(steps[0]); got[name] != nil {
			return lostAt(next, steps[1:], sent, got[name])
		}
		return gone
	case []any:
		if len(steps) == 1 && isContainer(sent) {
			if partner := pair([]any{sent}, got)[0]; partner >= 0 {
				return lost(next, sent, got[partner])
			}
			return gone
		}
		least := gone // other operations may have moved the element: it may be anywhere in the list
		for _, element := range got {
			found := lostAt(next, steps[1:], sent, element)
			if len(steps) == 1 && sent != element {
				found = gone
			}
			if len(found) == 0 {
				return nil
			}
			if i, ok := steps[0].(int); ok && len(steps) > 1 && reflect.DeepEqual(at(got, i), element) {
				least = found
			}
		}
		return least
	}
	return nil
}

func isContainer(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// readable returns an object with the fields that can be sent in two ways: the texts of a Secret are returned only as
// data.
func readable(got map[string]any) map[string]any {
	if got["apiVersion"] != "v1" || got["kind"] != "Secret" || got["data"] == nil {
		return got
	}
	return with(got, "stringData", got["data"])
}

// lost compares what was sent with what was returned at one path.
func lost(path []any, sent, got any) []Dropped {
	switch sent := sent.(type) {
	case map[string]any:
		got, isMap := got.(map[string]any)
		if !isMap {
			return nil
		}
		var all []Dropped
		for _, key := range slices.Sorted(maps.Keys(sent)) {
			at := append(slices.Clone(path), key)
			if got[key] == nil {
				all = append(all, Dropped{at, sent[key]})
				continue
			}
			all = append(all, lost(at, sent[key], got[key])...)
		}
		return all
	case []any:
		if got, isList := got.([]any); isList {
			return lostOfList(path, sent, got)
		}
	}
	return nil
}

// lostOfList pairs the sent elements with the returned ones, and returns what is lost of each.
func lostOfList(path []any, sent, got []any) []Dropped {
	var all []Dropped
	for i, partner := range pair(sent, got) {
		at := append(slices.Clone(path), i)
		if partner < 0 {
			all = append(all, Dropped{at, sent[i]})
			continue
		}
		all = append(all, lost(at, sent[i], got[partner])...)
	}
	return all
}

// pair returns for each sent element the index of the element that it became; -1 if there is none. Equal ones, or
// those with the same keys, are paired first, then those that lose least. An element whose name is missing is gone,
// whatever else is in the list.
func pair(sent, got []any) []int {
	partners, taken := slices.Repeat([]int{-1}, len(sent)), make([]bool, len(got))
	take := func(i int, among func(any) bool) {
		best, least := -1, 0
		for j := range got {
			if taken[j] || !among(got[j]) {
				continue
			}
			if n := len(lost(nil, sent[i], got[j])); best < 0 || n < least || n == least && j == i {
				best, least = j, n
			}
		}
		if partners[i] = best; best >= 0 {
			taken[best] = true
		}
	}
	keys := matching.ListKeys(sent)
	for i := range sent {
		take(i, func(g any) bool { return sameElement(sent[i], g, keys) })
	}
	if slices.Equal(keys, []string{"name"}) {
		return partners
	}
	for i := range sent {
		if partners[i] < 0 {
			take(i, func(any) bool { return true })
		}
	}
	return partners
}

// sameElement reports whether two elements are equal or, with keys, have the same ones.
func sameElement(sent, got any, keys []string) bool {
	if keys == nil {
		return reflect.DeepEqual(sent, got)
	}
	return matching.SameKeys(sent, got, keys)
}

// leaves returns the paths to all values in what was dropped.
func (d Dropped) leaves() [][]any {
	var all [][]any
	switch value := d.Value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			all = append(all, Dropped{append(slices.Clone(d.Path), key), value[key]}.leaves()...)
		}
	case []any:
		for i := range value {
			all = append(all, Dropped{append(slices.Clone(d.Path), i), value[i]}.leaves()...)
		}
	}
	if len(all) == 0 {
		return [][]any{d.Path}
	}
	return all
}
