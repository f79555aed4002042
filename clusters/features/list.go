// Package features knows the feature gates of a Kubernetes version, and says whether its components would start with a
// choice of them.
package features

import (
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
)

// List is every feature gate of one Kubernetes release.
type List struct {
	// Version of the release, without a leading v: "1.34.4".
	Version string `json:"version"`
	// Gates by name.
	Gates map[string]Gate `json:"gates"`
	// Programs holds, for each program that was asked, the alpha and beta gates that its own --help names, with the default
	// that it has there: a program may override it. A gate of those stages that is not there is unknown to that
	// program. (GA and deprecated gates are not in any --help.)
	Programs map[clusters.Component]map[string]bool `json:"programs,omitempty"`

	others []*List
}

// Gate is one feature gate.
type Gate struct {
	// Specs in the order of their versions.
	Specs []Spec `json:"specs"`
	// Needs are the gates that must be on where this one is; components enforce that from 1.35 on.
	Needs []string `json:"needs,omitempty"`
}

// Spec is what a gate is from one minor version on, until the next spec.
type Spec struct {
	// Since is a minor version, "1.34"; "0.0" means always.
	Since string `json:"since"`
	// Stage the gate is in.
	Stage Stage `json:"stage"`
	// Default value.
	Default bool `json:"default"`
	// Locked says that only the default may be set.
	Locked bool `json:"locked,omitempty"`
}

// Stage is how mature a gate is.
type Stage string

// The stages, as Kubernetes calls them.
const (
	Alpha      Stage = "Alpha"
	Beta       Stage = "Beta"
	GA         Stage = "GA"
	Deprecated Stage = "Deprecated"
)

// AllAlpha and AllBeta set every gate of a stage that is not set itself.
const (
	allAlpha = "AllAlpha"
	allBeta  = "AllBeta"
)

// With returns the list with other versions' lists at hand, from which it tells where a gate that it does not know is known.
func (l *List) With(others ...*List) *List {
	next := *l
	next.others = append(slices.Clone(l.others), others...)
	return &next
}

// At is what the gate is at a version, and false if it is nothing yet.
func (g Gate) At(v clusters.Version) (Spec, bool) {
	minor := minorOf(v)
	for i, s := range slices.Backward(g.Specs) {
		since := s.version()
		if since.Compare(minor) > 0 {
			continue
		}
		// A second spec of the same minor holds only with a --min-compatibility-version that forbids a rollback, and the
		// default of that flag is the minor before.
		if i > 0 && since == minor && g.Specs[i-1].version() == since {
			continue
		}
		return s, true
	}
	return Spec{}, false
}

func (s Spec) version() clusters.Version {
	v, _ := clusters.ParseVersion(s.Since) // parsed once already when the list was made
	return minorOf(v)
}

// minorOf leaves the patch open.
func minorOf(v clusters.Version) clusters.Version {
	return clusters.Version{Major: v.Major, Minor: v.Minor, Patch: -1}
}

// sorted orders the specs by version and keeps the order of those of the same version.
func sorted(specs []Spec) []Spec {
	slices.SortStableFunc(specs, func(a, b Spec) int { return a.version().Compare(b.version()) })
	return specs
}
