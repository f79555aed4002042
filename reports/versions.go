package reports

import (
	"slices"
	"strconv"
	"strings"
)

// Versions returns the versions of Kubernetes in a run, ascending.
func Versions(run *Run) []string {
	var all []string
	for _, track := range run.Tracks {
		for _, state := range track.Path {
			if version, _, _ := strings.Cut(state, " "); version != "" && !slices.Contains(all, version) {
				all = append(all, version)
			}
		}
	}
	return ascending(all)
}

// ascending orders versions by their numbers.
func ascending(versions []string) []string {
	numbers := func(version string) []int {
		var all []int
		for _, part := range strings.Split(version, ".") {
			n, _ := strconv.Atoi(part) // what is not a number counts as 0
			all = append(all, n)
		}
		return all
	}
	slices.SortStableFunc(versions, func(a, b string) int { return slices.Compare(numbers(a), numbers(b)) })
	return versions
}
