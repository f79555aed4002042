package matching

import (
	"fmt"
	"strings"
)

// wellKnownKeys returns the map keys of lists in the Kubernetes APIs (x-kubernetes-list-map-keys). More specific keys
// come before less specific ones.
func wellKnownKeys() [][]string {
	return [][]string{
		{"name"},
		{"type"},
		{"containerPort", "protocol"},
		{"containerPort"},
		{"port", "protocol"},
		{"port"},
		{"mountPath"},
		{"devicePath"},
		{"ip"},
		{"uid"},
		{"topologyKey", "whenUnsatisfiable"},
		{"topologyKey"},
		{"key", "effect"},
		{"key"},
		{"resourceName"},
		{"manager", "operation", "subresource"},
		{"id"},
	}
}

// listKeys returns the keys that every wanted element has, and that identify it; nil if there are none.
func listKeys(want []any) []string {
	for _, keys := range wellKnownKeys() {
		if tellApart(want, keys) {
			return keys
		}
	}
	return nil
}

// ListKeys returns the keys that identify the elements of a list, or nil.
func ListKeys(elements []any) []string { return listKeys(elements) }

// SameKeys reports whether two elements of a list have the same values for the keys.
func SameKeys(a, b any, keys []string) bool {
	left, isMap := plain(a).(map[string]any)
	right, alsoMap := plain(b).(map[string]any)
	return isMap && alsoMap && sameKey(left, right, keys)
}

func tellApart(elements []any, keys []string) bool {
	seen := map[string]bool{}
	for _, element := range elements {
		name := keyOf(element, keys)
		if name == "" || seen[name] {
			return false
		}
		seen[name] = true
	}
	return true
}

// keyOf names an element by its keys: [port=80,protocol=TCP]; "" if it lacks one.
func keyOf(element any, keys []string) string {
	fields, ok := plain(element).(map[string]any)
	if !ok {
		return ""
	}
	parts := make([]string, 0, len(keys))
	for _, key := range keys {
		switch value := plain(fields[key]).(type) {
		case nil, map[string]any, []any:
			return ""
		default:
			parts = append(parts, fmt.Sprintf("%s=%v", key, value))
		}
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func withSameKey(element any, among []any, keys []string) []any {
	want, _ := plain(element).(map[string]any)
	var same []any
	for _, candidate := range among {
		if fields, ok := plain(candidate).(map[string]any); ok && sameKey(want, fields, keys) {
			same = append(same, candidate)
		}
	}
	return same
}

func sameKey(a, b map[string]any, keys []string) bool {
	for _, key := range keys {
		if !equalScalars(plain(a[key]), plain(b[key])) {
			return false
		}
	}
	return true
}
