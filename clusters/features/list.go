// Package features has the feature gates of a Kubernetes version, and checks whether its components would start with
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
	// Programs has the alpha and beta gates in the --help of each program that was asked, with the program's own
	// default. A program does not know an alpha or beta gate that is missing here. (GA and deprecated gates are not in
	// any --help.)
	Programs map[clusters.Component]map[string]bool `json:"programs,omitempty"`

	others []*List
	// as are the emulated and compatible versions of the components; nil for the release's defaults.
	as *Versions
}

// Gate is one feature gate.
type Gate struct {
	// Specs in the order of their versions.
	Specs []Spec `json:"specs"`
	// Needs are the gates that must be on if this one is on; components enforce that since 1.35.
	Needs []string `json:"needs,omitempty"`
}

// Spec describes a gate from one minor version until the next spec.
type Spec struct {
	// Since is a minor version, "1.34"; "0.0" means always.
	Since string `json:"since"`
	// Stage of the gate.
	Stage Stage `json:"stage"`
	// Default value.
	Default bool `json:"default"`
	// Locked means that the gate can only have its default.
	Locked bool `json:"locked,omitempty"`
	// MinCompatibility is the lowest --min-compatibility-version for which the spec is valid, "1.37"; "" means any.
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

// AllAlpha and AllBeta set all gates of a stage that are not set individually.
const (
	allAlpha = "AllAlpha"
	allBeta  = "AllBeta"
)

// With returns the list with lists of other versions, which show the versions that have a gate that this one does not
// know.
func (l *List) With(others ...*List) *List {
	next := *l
	next.others = append(slices.Clone(l.others), others...)
	return &next
}

// As returns the list for components with these emulated and compatible versions. It omits the --help of the
// programs, which is valid only for the release's own versions.
func (l *List) As(v Versions) *List {
	next := *l
	next.as, next.Programs = &v, nil
	return &next
}

// versions returns the emulated and compatible versions of the components.
func (l *List) versions() Versions {
	if l.as != nil {
		return *l.as
	}
	return VersionsOf(l.Of())
}

// Of returns the version of the list's release.
func (l *List) Of() clusters.Version {
	v, _ := clusters.ParseVersion(l.Version) // a list has the version of a release
	return v
}

// At returns the spec of the gate in a release without version flags; false if the release does not have it yet.
func (g Gate) At(release clusters.Version) (Spec, bool) { return g.in(VersionsOf(release)) }

// in returns the spec of the gate for these versions; false if it is unknown there.
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

// minorOf returns the version without a patch.
func minorOf(v clusters.Version) clusters.Version {
	return clusters.Version{Major: v.Major, Minor: v.Minor, Patch: -1}
}

// sorted sorts the specs by version, and keeps the order within a version. Two specs with equal versions are an
// error: it is unknown which one counts.
func sorted(specs []Spec) ([]Spec, error) {
	slices.SortStableFunc(specs, func(a, b Spec) int { return a.version().Compare(b.version()) })
	for i := 1; i < len(specs); i++ {
		if specs[i].Since == specs[i-1].Since && specs[i].MinCompatibility == specs[i-1].MinCompatibility {
			return nil, fmt.Errorf("it has two specs of version %s", specs[i].Since)
		}
	}
	return specs, nil
}
