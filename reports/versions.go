package reports

import (
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// Versions returns the versions of Kubernetes in a run, ascending.
func Versions(run *Run) []string {
	var all []string
	for _, track := range run.Tracks {
		for _, state := range track.Path {
			if version := VersionOf(state); version != "" && !slices.Contains(all, version) {
				all = append(all, version)
			}
		}
	}
	slices.SortStableFunc(all, CompareVersions)
	return all
}

// VersionOf returns the version of Kubernetes of a state in words: it is the first word.
func VersionOf(state string) string {
	version, _, _ := strings.Cut(state, " ")
	return strings.TrimSuffix(version, ",") // a state with an operator is "1.34.4, op v1"
}

// CompareVersions orders 1.34.4, 1.34.10, 1.35.0-rc.9, 1.35.0-rc.10 and 1.35.0.
func CompareVersions(a, b string) int { return semver.Compare("v"+a, "v"+b) }
