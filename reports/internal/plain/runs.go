package plain

import (
	"fmt"
	"slices"
	"strings"
)

// Count returns how many elements of a list have a property.
func Count[T any](list []T, has func(T) bool) int {
	n := 0
	for _, one := range list {
		if has(one) {
			n++
		}
	}
	return n
}

// Vary reports whether the statuses differ.
func Vary[T comparable](list []T) bool {
	return len(list) > 0 && slices.ContainsFunc(list, func(other T) bool { return other != list[0] })
}

// InRuns is "passed in 4 of 5 runs, failed in run 2".
func InRuns[S ~string](statuses []S) string {
	var order []S
	runs := map[S][]string{}
	for i, status := range statuses {
		if runs[status] == nil {
			order = append(order, status)
		}
		runs[status] = append(runs[status], fmt.Sprint(i+1))
	}
	var parts []string
	for _, status := range order {
		which := "run " + strings.Join(runs[status], ", ")
		if n := len(runs[status]); n > 3 {
			which = fmt.Sprintf("%d of %d runs", n, len(statuses))
		}
		parts = append(parts, fmt.Sprintf("%s in %s", status, which))
	}
	return strings.Join(parts, ", ")
}
