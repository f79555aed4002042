package states

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// schedulers checks the additional kube-schedulers of a first state.
func (v *Check) schedulers(s clusters.State, n *yamltree.Node) {
	seen := map[string]bool{}
	for i, scheduler := range s.Schedulers {
		v.name("scheduler", "batch", scheduler.Name, n.At(i), seen)
	}
	v.schedulerClashes(s, n)
}

// SchedulerChanges checks what a transition does to the additional kube-schedulers.
func (v *Check) SchedulerChanges(before clusters.State, change clusters.Change, n *yamltree.Node) {
	seen, names := map[string]bool{}, schedulerNames(before)
	for i, c := range change.Schedulers {
		at := n.At(i)
		v.name("scheduler", "batch", c.Name, at, seen)
		there := slices.Contains(names, c.Name)
		switch {
		case c.Remove && len(at.Entries) > 2:
			v.At(at.Key("remove"), "", "a removed scheduler has no other fields")
		case c.Remove && !there:
			v.At(at.At("name"), words.Suggest(c.Name, names, "schedulers here"), "there is no scheduler %q to remove",
				words.Short(c.Name))
		case !c.Remove && there && at.Get("profiles") == nil:
			v.At(at, "give profiles or remove", "the scheduler does not change")
		}
	}
	if len(clashes(before)) == 0 { // otherwise it was reported before
		v.schedulerClashes(before.With(change), n)
	}
}

// schedulerClashes reports why the kube-schedulers of a state cannot run side by side.
func (v *Check) schedulerClashes(s clusters.State, n *yamltree.Node) {
	for _, problem := range clashes(s) {
		v.At(n, "", "%v", problem)
	}
}

// clashes returns the conflicts between schedulers. Unknown components are reported by their own check.
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

// name checks a name, which must be a DNS label and unique.
func (v *Check) name(what, example, name string, n *yamltree.Node, seen map[string]bool) {
	for _, message := range validation.IsDNS1123Label(name) {
		message, _, _ = strings.Cut(message, " (e.g.")
		v.At(n.At("name"), "such as "+example, "a %s's name %q: %s", what, words.Short(name), message)
	}
	if seen[name] {
		v.At(n.At("name"), "", "two %ss are called %q", what, words.Short(name))
	}
	seen[name] = true
}
