package skew

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
)

// ComponentError is a controller manager or scheduler with an API server that the policy does not allow.
type ComponentError struct {
	Component clusters.Component
	// Version of the component, and of the API server.
	Version, APIServer clusters.Version
}

func (e *ComponentError) Error() string {
	what := "more than one minor version older than"
	if e.APIServer.Compare(e.Version) < 0 {
		what = "newer than"
	}
	return fmt.Sprintf("%s %s is %s kube-apiserver %s: it must not be newer than an API server, and at most one minor "+
		"version older (%s)", e.Component, e.Version, what, e.APIServer, Policy)
}

// CheckComponent returns a *ComponentError if a controller manager or scheduler must not run with an API server of
// that version. Patches and pre-releases do not matter.
func CheckComponent(c clusters.Component, version, apiServer clusters.Version) error {
	behind := apiServer.Minor - version.Minor
	if version.Major != apiServer.Major || behind < 0 || behind > 1 {
		return &ComponentError{Component: c, Version: version, APIServer: apiServer}
	}
	return nil
}
