package history

import (
	"maps"
	"reflect"
)

// Patch returns the JSON merge patch (RFC 7386) that leads from one object to another, and shares parts of the
// second. It is not exact if the second holds a null, which such a patch cannot express.
func Patch(from, to map[string]any) (patch map[string]any, exact bool) {
	patch = map[string]any{}
	for key := range from {
		if _, there := to[key]; !there {
			patch[key] = nil
		}
	}
	for key, value := range to {
		before, there := from[key]
		if there && equal(before, value) {
			continue
		}
		inner, isMap := value.(map[string]any)
		old, wasMap := before.(map[string]any)
		if isMap && wasMap {
			difference, ok := Patch(old, inner)
			if !ok {
				return nil, false
			}
			patch[key] = difference
			continue
		}
		if holdsNull(value) {
			return nil, false
		}
		patch[key] = value
	}
	return patch, true
}

// merged returns the object after a merge patch that Patch made. It shares the unpatched parts with the object.
func merged(object, patch map[string]any) map[string]any {
	next := maps.Clone(object)
	if next == nil {
		next = map[string]any{}
	}
	for key, value := range patch {
		inner, isMap := value.(map[string]any)
		old, wasMap := next[key].(map[string]any)
		switch {
		case value == nil:
			delete(next, key)
		case isMap && wasMap:
			next[key] = merged(old, inner)
		default:
			next[key] = value
		}
	}
	return next
}

// holdsNull reports whether the value is null or has a null in its maps. Nulls in lists are kept as they are.
func holdsNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		for _, value := range v {
			if holdsNull(value) {
				return true
			}
		}
	}
	return false
}

// equal compares decoded JSON values; numbers of different types differ.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		if sameMap(a, b) {
			return true
		}
		for key, value := range a {
			if other, there := b[key]; !there || !equal(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		if len(a) > 0 && &a[0] == &b[0] {
			return true
		}
		for i, value := range a {
			if !equal(value, b[i]) {
				return false
			}
		}
		return true
	default:
		switch b.(type) {
		case map[string]any, []any:
			return false
		}
		return a == b
	}
}

// sameMap reports whether two maps are the same map, as equal parts of objects mostly are (shared). Then their
// contents need not be compared.
func sameMap(a, b map[string]any) bool {
	return reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
}
