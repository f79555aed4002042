// Package skew checks whether a control plane may change from one Kubernetes version to another in one step.
package skew

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Policy is the URL of Kubernetes' version skew policy.
const Policy = "https://kubernetes.io/releases/version-skew-policy/"

// Check returns an error if the step between the two versions, up or down, skips a minor version or changes the major
// version. Patches and pre-releases do not matter.
func Check(before, after string) error {
	from, err1 := clusters.ParseVersion(before)
	to, err2 := clusters.ParseVersion(after)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if from.Major != to.Major {
		return fmt.Errorf("cannot go from Kubernetes %s to %s: the version skew policy knows no change of "+
			"the major version (%s)", from, to, Policy)
	}
	direction, way, step := "upgrade", "up", 1
	if to.Minor < from.Minor {
		direction, way, step = "downgrade", "down", -1
	}
	var between []string
	for minor := from.Minor + step; (to.Minor-minor)*step > 0; minor += step {
		between = append(between, clusters.Version{Major: from.Major, Minor: minor, Patch: -1}.String())
	}
	if len(between) == 0 {
		return nil
	}
	skipped := between[len(between)-1]
	if others := between[:len(between)-1]; len(others) > 0 {
		skipped = strings.Join(others, ", ") + " and " + skipped
	}
	return fmt.Errorf("the %s from Kubernetes %s to %s skips %s: a control plane goes %s one minor version at a time (%s)",
		direction, from, to, skipped, way, Policy)
}
