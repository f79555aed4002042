package clusters

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// SystemVersion is what changes in a system from a given version onwards: new flags, files that moved.
type SystemVersion struct {
	// From is the first version to which it applies: v1.14.0. A later entry of the list replaces what an earlier one
	// sets.
	From string `json:"from"`
	// Process replaces fields of the system's process.
	Process *SystemProcess `json:"process,omitempty"`
	// Module replaces fields of the system's module.
	Module *SystemModule `json:"module,omitempty"`
	// Manifests replace those of the system.
	Manifests []string `json:"manifests,omitempty"`
	// Probes replace those of the system.
	Probes []map[string]any `json:"probes,omitempty"`
}

// ValidSystemVersion reports whether versions of systems can be compared with this one: v1.2.3, 1.2.
func ValidSystemVersion(version string) bool { return semver.IsValid(semantic(version)) }

// CompareSystemVersions compares two valid versions.
func CompareSystemVersions(a, b string) int { return semver.Compare(semantic(a), semantic(b)) }

// IsSystemVersion reports whether a version is the one that a text names: exactly, or v1.18 for each version of that
// minor.
func IsSystemVersion(version, text string) bool {
	if version == text || !ValidSystemVersion(version) || !ValidSystemVersion(text) {
		return version == text
	}
	if minor := semver.MajorMinor(semantic(text)); minor == semantic(text) {
		return semver.MajorMinor(semantic(version)) == minor
	}
	return CompareSystemVersions(version, text) == 0
}

func semantic(version string) string { return "v" + strings.TrimPrefix(version, "v") }

// change returns what the entry sets in a system.
func (v SystemVersion) change() System {
	return System{Process: v.Process, Module: v.Module, Manifests: v.Manifests, Probes: v.Probes}
}

// At returns the system at a version, with what differs there. The result can be moved to another version again: its
// first entry without a version keeps what the definition says itself.
func (s System) At(version string) System {
	s.Version = version
	if len(s.Versions) == 0 {
		return s
	}
	if s.Versions[0].From != "" {
		own := SystemVersion{Process: s.Process, Module: s.Module, Manifests: s.Manifests, Probes: s.Probes}
		s.Versions = slices.Insert(slices.Clone(s.Versions), 0, own)
	}
	own := s.Versions[0]
	s.Process, s.Module, s.Manifests, s.Probes = own.Process, own.Module, own.Manifests, own.Probes
	for _, v := range s.Versions[1:] {
		change := v.change()
		if kind := change.Kind(); kind != "" && kind != s.Kind() {
			continue // the definition is rejected
		}
		if CompareSystemVersions(v.From, version) <= 0 {
			s = v.over(s)
		}
	}
	return s
}

// over returns the system with the fields of the entry. Unlike in a transition, all other settings stay.
func (v SystemVersion) over(s System) System {
	before, change := s.Launched(), v.change().Launched()
	next := s.withFields(v.change())
	if change != nil {
		p := next.Launched()
		p.CertDir = cmp.Or(change.CertDir, before.CertDir)
		p.WebhookPort = cmp.Or(change.WebhookPort, before.WebhookPort)
		p.Service = cmp.Or(change.Service, before.Service)
	}
	if v.Module != nil {
		next.Module.Package = cmp.Or(v.Module.Package, s.Module.Package)
	}
	return next
}

// withProbes returns the system with probes that replace those of its definition, at each version.
func (s System) withProbes(probes []map[string]any) System {
	s.Probes = probes
	if len(s.Versions) == 0 {
		return s
	}
	s.Versions = slices.Clone(s.At(s.Version).Versions)
	for i := range s.Versions {
		s.Versions[i].Probes = nil
	}
	s.Versions[0].Probes = probes
	return s
}

// versionsBeside returns the entries for a definition in a folder.
func versionsBeside(list []SystemVersion, dir string) []SystemVersion {
	list = slices.Clone(list)
	for i, v := range list {
		there := v.change().Beside(dir)
		list[i].Process, list[i].Module, list[i].Manifests = there.Process, there.Module, there.Manifests
	}
	return list
}
