package manifests

import (
	"fmt"
	"slices"
	"strings"
)

// Select keeps the objects of some kinds ("Deployment", "deployment.apps"; none is all), and leaves out those of
// others. A name that stands for no object is an error.
func Select(objects []*Object, only, except []string) ([]*Object, error) {
	used := map[string]bool{}
	matches := func(o *Object, kinds []string) bool {
		found := false
		for _, kind := range kinds {
			if strings.EqualFold(kind, o.GVK().Kind) || strings.EqualFold(kind, o.GVK().GroupKind().String()) {
				used[kind], found = true, true
			}
		}
		return found
	}
	kept := slices.DeleteFunc(slices.Clone(objects), func(o *Object) bool {
		wanted, unwanted := matches(o, only) || len(only) == 0, matches(o, except)
		return !wanted || unwanted
	})
	for _, kind := range slices.Concat(only, except) {
		if !used[kind] {
			return nil, fmt.Errorf("no object is of kind %q; there are: %s", kind, strings.Join(kindsOf(objects), ", "))
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("of %d objects none is left", len(objects))
	}
	return kept, nil
}

// kindsOf names the kinds of objects, each once, sorted.
func kindsOf(objects []*Object) []string {
	var kinds []string
	for _, o := range objects {
		kinds = append(kinds, o.GVK().GroupKind().String())
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// Counts are how many objects there are of each kind: "3 ConfigMap, 1 Deployment.apps".
func Counts(objects []*Object) string {
	numbers := map[string]int{}
	for _, o := range objects {
		numbers[o.GVK().GroupKind().String()]++
	}
	var parts []string
	for _, kind := range kindsOf(objects) {
		parts = append(parts, fmt.Sprintf("%d %s", numbers[kind], kind))
	}
	return strings.Join(parts, ", ")
}
