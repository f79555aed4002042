package states

import (
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// systemVersions checks what a definition says of versions, in a definition or in a change.
func systemVersions(v *Check, s clusters.System, n *yamltree.Node) {
	kinds := []string{"process", "module", "manifests"}
	if len(s.Versions) > 0 && s.Kind() == "" {
		v.At(n.Key("versions"), "give process, module or manifests, too", "versions are part of a whole definition")
		return
	}
	for i, entry := range s.Versions {
		at := n.At("versions", i)
		for _, kind := range kinds {
			if at.Get(kind) != nil && n.Get(kind) == nil {
				v.At(at.Key(kind), "", "the system itself has no %s", kind)
			}
		}
		switch previous := i - 1; {
		case !clusters.ValidSystemVersion(entry.From):
			v.At(at.At("from"), "such as v1.2.3", "%q is not a version that can be compared", words.Short(entry.From))
		case previous >= 0 && clusters.ValidSystemVersion(s.Versions[previous].From) &&
			clusters.CompareSystemVersions(s.Versions[previous].From, entry.From) >= 0:
			v.At(at.At("from"), "sort them: a later entry replaces what an earlier one sets",
				"version %q is not newer than that of the entry before", words.Short(entry.From))
		case !slices.ContainsFunc(append(kinds, "probes"), func(field string) bool { return at.Get(field) != nil }):
			v.At(at, "give process, module, manifests or probes", "nothing is different from this version on")
		}
		if p := (clusters.System{Process: entry.Process, Module: entry.Module}).Launched(); p != nil {
			kind := "process"
			if entry.Module != nil {
				kind = "module"
			}
			v.process(p, at.Get(kind))
		}
		for j, manifest := range entry.Manifests {
			v.manifest(manifest, at.At("manifests", j))
		}
		for j, probe := range entry.Probes {
			v.probe(probe, at.At("probes", j))
		}
	}
}

// versionOfSystem checks that the version of a system with versions can be compared with them. The version of a module
// is checked with the module.
func versionOfSystem(v *Check, s clusters.System, n *yamltree.Node) {
	if len(s.Versions) > 0 && s.Module == nil && s.Simulated == nil && !clusters.ValidSystemVersion(s.Version) {
		v.At(n.At("version"), "such as v1.2.3", "system %q: its definition has versions, so its version must be one "+
			"that can be compared, not %q", words.Short(s.Name), words.Short(s.Version))
	}
}
