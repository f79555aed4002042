// Package matrix builds the cells of a matrix. Each scenario has a cell for every combination of a version of a system
// and a version of Kubernetes.
package matrix

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Axes are the versions whose combinations are the cells of a matrix.
type Axes struct {
	// System is the name of the system. Versions are its versions, from the oldest to the newest.
	System   string
	Versions []string
	// Kubernetes are the versions of Kubernetes, from the oldest to the newest.
	Kubernetes []string
	// Definition of the system. Default: each scenario uses its own definition.
	Definition *clusters.System
	// Up: each version of the system has one cluster, which is upgraded through the versions of Kubernetes. Default: the
	// cluster of a cell starts with the versions of the cell.
	Up bool
}

// ParseKubernetes parses versions of Kubernetes and ranges of minor versions, such as 1.33-1.37. It returns the single
// versions.
func ParseKubernetes(texts []string) ([]string, error) {
	var all []string
	for _, text := range texts {
		more, err := versionsIn(text)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, distinct(all)
}

func versionsIn(text string) ([]string, error) {
	if _, err := clusters.ParseVersion(text); err == nil {
		return []string{text}, nil
	}
	first, last, isRange := strings.Cut(text, "-")
	from, err1 := clusters.ParseVersion(first)
	to, err2 := clusters.ParseVersion(last)
	if !isRange || errors.Join(err1, err2) != nil || from.Exact() || to.Exact() || from.Major != to.Major ||
		to.Minor < from.Minor {
		return nil, fmt.Errorf("%q: want a version of Kubernetes such as 1.34 or 1.34.4, or a range such as 1.33-1.37", text)
	}
	var all []string
	for v := from; v.Minor <= to.Minor; v.Minor++ {
		all = append(all, v.String())
	}
	return all, nil
}

// distinct returns an error if a version is given twice or is empty, or if there are no versions.
func distinct(all []string) error {
	if len(all) == 0 {
		return errors.New("give at least one version")
	}
	for i, version := range all {
		if version == "" {
			return errors.New("a version is empty")
		}
		if slices.Contains(all[:i], version) {
			return fmt.Errorf("%s is given twice", version)
		}
	}
	return nil
}

// check validates the axes.
func (a Axes) check() error {
	if a.System == "" {
		return errors.New("name the system of the matrix")
	}
	if err := errors.Join(distinct(a.Versions), ascending(a.Versions, isOlderSystem)); err != nil {
		return fmt.Errorf("versions of %s: %w", a.System, err)
	}
	if err := errors.Join(distinct(a.Kubernetes), ascending(a.Kubernetes, isOlderKubernetes)); err != nil {
		return fmt.Errorf("versions of Kubernetes: %w", err)
	}
	return nil
}

// ascending returns an error if a version is older than an earlier one of the list: an upgrade to the next version
// would be a downgrade. Versions that cannot be compared may have any order.
func ascending(all []string, isOlder func(a, b string) bool) error {
	for i, version := range all {
		for _, earlier := range all[:i] {
			if isOlder(version, earlier) {
				return fmt.Errorf("%[1]s is older than %[2]s: write %[1]s before %[2]s", version, earlier)
			}
		}
	}
	return nil
}

func isOlderSystem(a, b string) bool {
	return clusters.ValidSystemVersion(a) && clusters.ValidSystemVersion(b) && clusters.CompareSystemVersions(a, b) < 0
}

// isOlderKubernetes compares versions of Kubernetes. The newest patch, 1.34, is not older than any other one.
func isOlderKubernetes(a, b string) bool {
	is, err1 := clusters.ParseVersion(a)
	than, err2 := clusters.ParseVersion(b)
	if errors.Join(err1, err2) != nil || is.MinorString() == than.MinorString() && !is.Exact() {
		return false
	}
	return is.Compare(than) < 0
}
