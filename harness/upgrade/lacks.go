package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/capture"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/harness/storage"
	"github.com/rehearse-dev/rehearse/harness/transplant"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// lacking reports what the copy lacks, and how it differs from the origin.
func (r *rehearsal) lacking() {
	if r.Origin == nil {
		return
	}
	others := map[string]int{}
	for _, lack := range r.Origin.Lacks() {
		switch wanted := wants(r.Origin.Selection, lack.Kind, lack.Name); {
		case !wanted && lack.Name == "":
			r.report.Notes = append(r.report.Notes,
				fmt.Sprintf("not in the copy, and not selected: %s (%s)", lack.Kind, lack.Why))
		case !wanted:
			others[fmt.Sprintf("%s (%s)", lack.Kind, lack.Why)]++
		case lack.Name == "":
			r.unjudged(lack.Kind, nil, "none of its objects were rehearsed", lack.Why,
				"capture the cluster with the ClusterRole of https://github.com/rehearse-dev/rehearse/blob/main/docs/upgrade.md")
		default:
			r.unjudged(lack.Kind, r.objectOf(lack.Kind, lack.Name), "the copy lacks what it needs", lack.Why,
				"rehearse it in a cluster that has it")
		}
	}
	r.unselected("the copy lacks what they need", others)
	r.report.Notes = append(r.report.Notes, r.Origin.Notes()...)
	if r.Origin.Called != nil {
		r.report.Notes = append(r.report.Notes, r.Origin.Called()...)
	}
}

// lost reports the objects that were put into the copy, but are missing now. A kind that is not served, or that is
// unread, is one finding: it is not known which of its objects are missing.
func (r *rehearsal) lost(found population, unread []capture.Missing) {
	unlisted := map[string]bool{}
	for _, one := range unread {
		unlisted[one.What] = true
		if r.Origin.Selection.Wants(one.What) {
			r.unjudged(one.What, nil, "its objects cannot be read at the first state", one.Why, "")
		}
	}
	others := map[string]int{}
	unserved := map[string]int{}
	for _, key := range r.Origin.Lost(found.there) {
		resource, name := storage.Named(key)
		switch kind := resource.String(); {
		case unlisted[kind]:
		case !found.served[kind] && wants(r.Origin.Selection, kind, name):
			unserved[kind]++
		case wants(r.Origin.Selection, kind, name):
			r.unjudged(kind, r.objectOf(kind, name), "it was put into the copy, but no longer exists",
				"controllers or the API server removed or replaced it before the first check", "")
		default:
			others[kind]++
		}
	}
	for _, kind := range clusters.SortedKeys(unserved) {
		advice := "set --from-runtime-config and --from-feature-gates as in the origin"
		if _, group, _ := strings.Cut(kind, "."); served.MayBeCustom(group) {
			advice = "its CustomResourceDefinition is not in the copy"
		}
		r.unjudged(kind, nil, "the copy does not serve this API at the first state",
			fmt.Sprintf("%d of its objects are stored", unserved[kind]), advice)
	}
	r.unselected("put into the copy, but no longer there", others)
}

// wants reports whether something that a copy lacks is selected. A CustomResourceDefinition also stands for its
// objects, whose resource is its name.
func wants(selection manifests.Selection, kind, name string) bool {
	if name == "" {
		return selection.Wants(kind)
	}
	namespace, _, namespaced := strings.Cut(name, "/")
	if !namespaced {
		namespace = ""
	}
	defines := strings.HasSuffix(strings.ToLower(kind), "."+storage.Extensions)
	return selection.WantsIn(namespace, kind) || defines && selection.Wants(name)
}

// selectable is the selection without the exceptions that are only about what the copy lacks: there is nothing to leave
// out.
func (r *rehearsal) selectable(objects []*manifests.Object, lost []string) manifests.Selection {
	selection := r.Origin.Selection
	selection.Except = slices.DeleteFunc(slices.Clone(selection.Except), func(entry string) bool {
		if slices.ContainsFunc(objects, manifests.Selection{Only: []string{entry}}.Has) {
			return false
		}
		except := manifests.Selection{Except: []string{entry}}
		lacked := func(l transplant.Lack) bool { return !wants(except, l.Kind, l.Name) }
		return slices.ContainsFunc(r.Origin.Lacks(), lacked) ||
			slices.ContainsFunc(lost, func(key string) bool {
				resource, name := storage.Named(key)
				return !wants(except, resource.String(), name)
			})
	})
	return selection
}

// unselected notes how many objects are not judged, but are not selected either.
func (r *rehearsal) unselected(what string, numbers map[string]int) {
	for _, kind := range clusters.SortedKeys(numbers) {
		r.report.Notes = append(r.report.Notes, fmt.Sprintf("%s, and not selected: %d %s", what, numbers[kind], kind))
	}
}

// objectOf names an object of the origin for a report.
func (r *rehearsal) objectOf(kind, name string) []upgrades.Object {
	kind, _, _ = strings.Cut(kind, ".")
	return []upgrades.Object{{Name: kind + " " + name, Place: r.Origin.Name}}
}

// unjudged adds a finding about the copy, or the objects to the one with the same cause.
func (r *rehearsal) unjudged(kind string, objects []upgrades.Object, what, words, advice string) {
	for _, f := range r.report.Findings {
		if f.Check == "copy" && f.Kind == kind && f.What == what && f.Words == words && f.Advice == advice &&
			len(objects) > 0 && len(f.Objects) > 0 {
			f.Objects = append(f.Objects, objects...)
			return
		}
	}
	r.report.Findings = append(r.report.Findings, &upgrades.Finding{
		Severity: upgrades.Unjudged, Check: "copy", Kind: kind, Objects: objects, States: []int{0},
		Hop: r.report.Path[0].Name, What: what, Words: words, Advice: advice,
	})
}
