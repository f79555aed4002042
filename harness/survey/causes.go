package survey

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// regression is a known change of Kubernetes that has the effect on objects that a finding describes.
type regression struct {
	sentence, link string
	// kind of the object, or of its dependents; "" for any. words are a part of the finding's words.
	kind, words string
	check       Check
	// custom says that it is only about custom resources.
	custom bool
	// versions that have it: patch releases, one of which must be an end of the hop, or minors since which Kubernetes is
	// different, one of which the hop must cross. A gate that flips at the hop is enough, too.
	versions []string
	gate     string
}

const issues = "https://github.com/kubernetes/kubernetes/issues/"

// regressions are those of scenarios/regressions that a survey can find, and similar ones.
func regressions() []regression {
	return []regression{
		{
			sentence: "revisions are compared as text, and 1.34 no longer writes `creationTimestamp: null`",
			link:     issues + "134773",
			kind:     "StatefulSet", check: Moved, versions: []string{"1.34.0", "1.34.1"},
			gate: "StatefulSetSemanticRevisionComparison",
		},
		{
			sentence: "1.34 no longer writes `creationTimestamp: null` into templates, so each gets a new " +
				"revision; no pod restarts", link: issues + "134773",
			kind: "DaemonSet", words: "new ControllerRevision", check: Moved, versions: []string{"1.34"},
		},
		{
			sentence: "1.36 rejects addresses with leading zeros, and networks with bits beyond their prefix", link: issues +
				"137053",
			words: "must not have", gate: "StrictIPCIDRValidation",
		},
		{
			sentence: "1.36 enforces the formats of numbers in custom resources", link: issues + "136582",
			words: "format", custom: true, check: Create, versions: []string{"1.36"},
		},
		{
			sentence: "1.34 rejects updates of a stored default backend whose name only the newer rule accepts",
			link:     issues + "135425",
			kind:     "Ingress", words: "spec.defaultBackend.service.name", gate: "RelaxedServiceNameValidation",
			versions: []string{"1.34"},
		},
		{
			sentence: "Kubernetes removed the API version in which it is stored", link: issues + "138572",
			words: "no kind \"Workload\" is registered", versions: []string{"1.36", "1.37"},
		},
		{
			sentence: "Kubernetes removed the API version in which it is stored", link: issues + "140184",
			words: "no kind \"PodGroup\" is registered", versions: []string{"1.36", "1.37"},
		},
		{
			sentence: "since 1.35, shared counters and devices must be in separate ResourceSlices", link: issues + "134189",
			kind: "ResourceSlice", words: "sharedCounters", versions: []string{"1.35"},
		},
		{
			sentence: "server-side apply drops the null of a nullable list or map", link: issues + "140294",
			words: "Required value", check: Apply, versions: []string{"1.36.0", "1.36.1", "1.36.2"},
		},
	}
}

// cause is the regression that probably causes a finding; "" if none is known.
func cause(f *upgrades.Finding, path []*upgrades.State) (sentence, link string) {
	from, to := reports.VersionOf(path[max(f.State-1, 0)].Name), reports.VersionOf(path[f.State].Name)
	kind, group, _ := strings.Cut(f.Kind, ".")
	for _, r := range regressions() {
		switch {
		case r.kind != "" && r.kind != kind, !strings.Contains(f.Words, r.words), r.custom && builtIn(group):
		case r.check != "" && string(r.check) != f.Check && !slices.Contains(f.Checks, string(r.check)):
		case r.at(from, to), r.gate != "" &&
			slices.ContainsFunc(f.Flips, func(flip string) bool { return strings.HasPrefix(flip, r.gate+" ") }):
			return r.sentence, r.link
		}
	}
	return "", ""
}

// at reports whether a hop between two versions shows the regression, as far as its versions say.
func (r regression) at(from, to string) bool {
	if reports.CompareVersions(from, to) > 0 {
		from, to = to, from
	}
	return slices.ContainsFunc(r.versions, func(known string) bool {
		if strings.Count(known, ".") > 1 {
			return known == from || known == to
		}
		return reports.CompareVersions(from, known+".0-0") < 0 && reports.CompareVersions(to, known+".0-0") >= 0
	})
}

// builtIn reports whether a group is one of Kubernetes itself, and not of custom resources.
func builtIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}
