// Package skew checks whether a control plane may change from one Kubernetes version to another in one step.
package skew

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Policy is the URL of Kubernetes' version skew policy.
const Policy = "https://kubernetes.io/releases/version-skew-policy/"

// Error reports a step that the policy does not allow.
type Error struct {
	// From and To are the versions of the step.
	From, To clusters.Version
	// Between are the minor versions that the step skips, in order; none if the major version changes.
	Between []string
}

func (e *Error) Error() string {
	rest := "(" + Policy + ")"
	if e.From.Major != e.To.Major {
		return fmt.Sprintf("cannot go from Kubernetes %s to %s: the version skew policy knows no change of the major "+
			"version %s", e.From, e.To, rest)
	}
	direction, way := "upgrade", "up"
	if e.To.Compare(e.From) < 0 {
		direction, way = "downgrade", "down"
	}
	between := e.Between[len(e.Between)-1]
	if rest := e.Between[:len(e.Between)-1]; len(rest) > 0 {
		between = strings.Join(rest, ", ") + " and " + between
	}
	return fmt.Sprintf("the %s from Kubernetes %s to %s skips %s: a control plane goes %s one minor version at a time %s",
		direction, e.From, e.To, between, way, rest)
}

// Check returns an *Error if the step between the two versions, up or down, skips a minor version or changes the
// major version. Patches and pre-releases do not matter.
func Check(from, to clusters.Version) error {
	if from.Major != to.Major {
		return &Error{From: from, To: to}
	}
	step := 1
	if to.Minor < from.Minor {
		step = -1
	}
	var between []string
	for minor := from.Minor + step; (to.Minor-minor)*step > 0; minor += step {
		between = append(between, clusters.Version{Major: from.Major, Minor: minor, Patch: -1}.String())
	}
	if len(between) == 0 {
		return nil
	}
	return &Error{From: from, To: to, Between: between}
}
