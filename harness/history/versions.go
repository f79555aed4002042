package history

import "k8s.io/apimachinery/pkg/util/resourceversion"

// compare orders two resourceVersions; ok is false when they cannot be ordered (an aggregated API's own).
func compare(a, b string) (order int, ok bool) {
	if a == b {
		return 0, true
	}
	order, err := resourceversion.CompareResourceVersion(a, b)
	return order, err == nil
}

// older reports whether a is known to be older than b.
func older(a, b string) bool {
	order, ok := compare(a, b)
	return ok && order < 0
}

// atLeast reports whether a is known to be b or newer.
func atLeast(a, b string) bool {
	order, ok := compare(a, b)
	return ok && order >= 0
}
