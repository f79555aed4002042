package scenarios

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rehearse-dev/rehearse/clusters"
)

// schedulers checks the further kube-schedulers of a first state.
func (v *validator) schedulers(s clusters.State, n *node) {
	seen := map[string]bool{}
	for i, scheduler := range s.Schedulers {
		v.schedulerName(scheduler.Name, n.at(i), seen)
	}
	v.schedulerClashes(s, n)
}

// schedulerChanges checks what a transition does to the further kube-schedulers.
func (v *validator) schedulerChanges(before clusters.State, change clusters.Change, n *node) {
	seen, names := map[string]bool{}, schedulerNames(before)
	for i, c := range change.Schedulers {
		at := n.at(i)
		v.schedulerName(c.Name, at, seen)
		there := slices.Contains(names, c.Name)
		switch {
		case c.Remove && len(at.entries) > 2:
			v.at(at.key("remove"), "", "a scheduler that is removed has no other fields")
		case c.Remove && !there:
			v.at(at.at("name"), suggest(c.Name, names, "schedulers here"), "no scheduler %q is there to be removed",
				short(c.Name))
		case !c.Remove && there && at.get("profiles") == nil:
			v.at(at, "give profiles or remove", "a scheduler that does not change")
		}
	}
	if len(clashes(before)) == 0 { // else it was reported before
		v.schedulerClashes(before.With(change), n)
	}
}

// schedulerClashes tells what makes the kube-schedulers of a state impossible side by side.
func (v *validator) schedulerClashes(s clusters.State, n *node) {
	for _, problem := range clashes(s) {
		v.at(n, "", "%v", problem)
	}
}

// clashes of schedulers. Components that are not there are reported by their own check.
func clashes(s clusters.State) []error {
	s.Components = nil
	return s.CheckSchedulers()
}

func schedulerNames(state clusters.State) []string {
	var names []string
	for _, s := range state.Schedulers {
		names = append(names, s.Name)
	}
	return names
}

func (v *validator) schedulerName(name string, n *node, seen map[string]bool) {
	for _, message := range validation.IsDNS1123Label(name) {
		message, _, _ = strings.Cut(message, " (e.g.")
		v.at(n.at("name"), "such as batch", "a scheduler's name %q: %s", short(name), message)
	}
	if seen[name] {
		v.at(n.at("name"), "", "two schedulers are called %q", short(name))
	}
	seen[name] = true
}
