package skew

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
)

// CheckComponent returns an error if a controller manager or scheduler must not run with an API server of that version.
// Patches and pre-releases do not matter.
func CheckComponent(c clusters.Component, version, apiServer clusters.Version) error {
	behind := apiServer.Minor - version.Minor
	if version.Major == apiServer.Major && (behind == 0 || behind == 1) {
		return nil
	}
	what := "more than one minor version older than"
	if apiServer.Compare(version) < 0 {
		what = "newer than"
	}
	return fmt.Errorf("%s %s is %s kube-apiserver %s: it must not be newer than an API server, and at most one minor "+
		"version older (%s)", c, version, what, apiServer, Policy)
}
