// Package features knows the feature gates of a Kubernetes version, and checks whether its components would start with
// given values.
package features

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
)

// List is every feature gate of one Kubernetes release.
type List struct {
	// Version of the release, without a leading v: "1.34.4".
	Version string `json:"version"`
	// Gates by name.
	Gates map[string]Gate `json:"gates"`
	// Programs holds, for each program that was asked, the alpha and beta gates that its own --help names, with the
	// default that it has there: a program may override it. A gate of those stages that is not there is unknown to that
	// program. (GA and deprecated gates are not in any --help.)
	Programs map[clusters.Component]map[string]bool `json:"programs,omitempty"`

	others []*List
	// as are the versions that the components go by; nil for the release's own.
	as *Versions
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
	// MinCompatibility is the lowest --min-compatibility-version at which the spec holds, "1.37"; "" means any.
	MinCompatibility string `json:"minCompatibility,omitempty"`
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

// With returns the list with other versions' lists at hand, from which it tells where a gate that it does not know is
// known.
func (l *List) With(others ...*List) *List {
	next := *l
	next.others = append(slices.Clone(l.others), others...)
	return &next
}

// As returns the list of components that go by these versions. What the programs say of themselves is left out: it is
// of the release's own version.
func (l *List) As(v Versions) *List {
	next := *l
	next.as, next.Programs = &v, nil
	return &next
}

// versions that the components go by.
func (l *List) versions() Versions {
	if l.as != nil {
		return *l.as
	}
	return VersionsOf(l.Of())
}

// Of is the version of the list's release.
func (l *List) Of() clusters.Version {
	v, _ := clusters.ParseVersion(l.Version) // a list has the version of a release
	return v
}

// At is what the gate is in a release, and false if the release does not know it yet. It supposes that no flag says
// which versions the release goes by.
func (g Gate) At(release clusters.Version) (Spec, bool) { return g.in(VersionsOf(release)) }

// in is what the gate is at these versions, and false if it is unknown there.
func (g Gate) in(v Versions) (Spec, bool) {
	for _, s := range slices.Backward(g.Specs) {
		if s.version().Compare(v.Emulated) <= 0 && s.compatibleWith(v.MinCompatibility) {
			return s, true
		}
	}
	return Spec{}, false
}

func (s Spec) compatibleWith(v clusters.Version) bool {
	if s.MinCompatibility == "" {
		return true
	}
	least, _ := clusters.ParseVersion(s.MinCompatibility) // parsed once already when the list was made
	return minorOf(least).Compare(v) <= 0
}

func (s Spec) version() clusters.Version {
	v, _ := clusters.ParseVersion(s.Since) // parsed once already when the list was made
	return minorOf(v)
}

// minorOf leaves the patch open.
func minorOf(v clusters.Version) clusters.Version {
	return clusters.Version{Major: v.Major, Minor: v.Minor, Patch: -1}
}

// sorted orders the specs by version, and those of the same version as they stand. Two that hold at the same time are
// an error: which of them counts is not known.
func sorted(specs []Spec) ([]Spec, error) {
	slices.SortStableFunc(specs, func(a, b Spec) int { return a.version().Compare(b.version()) })
	for i := 1; i < len(specs); i++ {
		if specs[i].Since == specs[i-1].Since && specs[i].MinCompatibility == specs[i-1].MinCompatibility {
			return nil, fmt.Errorf("it has two specs of version %s", specs[i].Since)
		}
	}
	return specs, nil
}
