package survey

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/history"
)

// movement is what happened to the dependents of one given object.
type movement struct {
	gone, made map[string][]string // names by kind
	before     map[string]int      // number of dependents before, by kind
	restarted  []string
}

// movements are the changes of dependents between the mark and a moment of the history, by the given object that they
// belong to. Deletions of given objects themselves are not included.
func (s *Survey) movements(since Mark, upTo int64, found *observation) map[*Target]*movement {
	all := movements{was: since.there, judged: since.seq, is: map[string]*Target{}, of: map[*Target]*movement{}}
	for _, t := range found.targets {
		all.is[t.UID] = t
	}
	for _, resource := range movers() {
		for _, change := range s.history.Stream(resource).ChangesBetween(since.looked, upTo, history.Scope{}) {
			all.add(change)
		}
	}
	all.vanished(found)
	for _, t := range since.there {
		if m := all.of[t.Root]; moves(t) && m != nil {
			m.before[t.GVK.Kind]++
		}
	}
	return all.of
}

// movements are what happened to dependents.
type movements struct {
	// was and is are the targets at the last mark and now, by uid.
	was, is map[string]*Target
	// judged is the number of the last change that was judged at the last mark. Only what was made before it can be
	// unknown, because the mark did not see it.
	judged int64
	// of are the movements by given objects.
	of map[*Target]*movement
}

// moves reports whether changes of a target count: it is a dependent that does not come and go with time.
func moves(t *Target) bool { return t != nil && t.Root != nil && !t.timed }

// add adds a change of an object, if that is a dependent.
func (m movements) add(change history.Change) {
	was, is := m.was[string(change.UID)], m.is[string(change.UID)]
	switch {
	case was != nil && change.Seq <= m.judged:
	case moves(was) && change.Type == history.Deleted:
		gone := m.at(was).gone
		gone[was.GVK.Kind] = append(gone[was.GVK.Kind], change.Name)
	case moves(is) && was == nil && change.Type == history.Added:
		made := m.at(is).made
		made[is.GVK.Kind] = append(made[is.GVK.Kind], change.Name)
	case was != nil && !was.timed && change.Before != nil && restarts(change.Object) > restarts(change.Before):
		one := m.at(was)
		one.restarted = append(one.restarted, change.Name)
	}
}

// vanished adds the dependents of kinds without a watch that no longer exist, such as what an operator made.
func (m movements) vanished(found *observation) {
	for uid, t := range m.was {
		if moves(t) && m.is[uid] == nil && m.is[t.Root.UID] != nil && found.listed(t) && !watched(t.GVK) {
			gone := m.at(t).gone
			gone[t.GVK.Kind] = append(gone[t.GVK.Kind], t.Name)
		}
	}
}

// watched reports whether a kind is one of movers.
func watched(kind schema.GroupVersionKind) bool {
	return slices.ContainsFunc(movers(), func(r schema.GroupVersionResource) bool {
		return r.Group == kind.Group && r.Resource == strings.ToLower(kind.Kind)+"s"
	})
}

// at is the movement to which the changes of a target belong.
func (m movements) at(t *Target) *movement {
	root := t.root()
	if m.of[root] == nil {
		m.of[root] = &movement{gone: map[string][]string{}, made: map[string][]string{}, before: map[string]int{}}
	}
	return m.of[root]
}

// restarts is the number of restarts of a pod's containers.
func restarts(o *unstructured.Unstructured) int64 {
	if o == nil || o.GetKind() != "Pod" {
		return 0
	}
	var n int64
	for _, list := range []string{"containerStatuses", "initContainerStatuses"} {
		statuses, _, _ := unstructured.NestedSlice(o.Object, "status", list)
		for _, status := range statuses {
			if fields, ok := status.(map[string]any); ok {
				count, _ := fields["restartCount"].(int64)
				n += count
			}
		}
	}
	return n
}

// podsMoved is the class of all outcomes in which pods were replaced or restarted.
const podsMoved = "pods"

// outcome describes a movement. New pods of a Job that had all its pods before mean that it runs again. A Job that had
// none could not start until now, and one that had some continues.
func (m *movement) outcome(before standing) Outcome {
	var parts []string
	answer := Changed
	if gone, made := len(m.gone["Pod"]), len(m.made["Pod"]); gone > 0 {
		answer = Bad
		parts = append(parts, fmt.Sprintf("%d of its %d pods were deleted, %d were recreated", gone, m.before["Pod"], made))
	} else if made > 0 && !before.continues() {
		if before.ran() {
			answer = Bad
		}
		parts = append(parts, fmt.Sprintf("%d more pods were made: %s", made, names(m.made["Pod"])))
	}
	if n := len(m.restarted); n == 1 {
		answer = Bad
		parts = append(parts, fmt.Sprintf("containers of pod %s were restarted", m.restarted[0]))
	} else if n > 1 {
		answer = Bad
		parts = append(parts, fmt.Sprintf("containers of %d pods were restarted", n))
	}
	class := strings.Join(parts, "; ")
	for _, kind := range m.kinds() {
		if list := m.made[kind]; len(list) > 0 {
			parts = append(parts, fmt.Sprintf("a new %s was made: %s", kind, names(list)))
			class += " new " + kind
		}
		if list := m.gone[kind]; len(list) > 0 {
			parts = append(parts, fmt.Sprintf("a %s was deleted: %s", kind, names(list)))
			class += " deleted " + kind
		}
	}
	if len(parts) == 0 {
		return Outcome{Answer: Good}
	}
	if answer == Bad {
		class = podsMoved
	}
	return Outcome{Answer: answer, Words: strings.Join(parts, "; "), Class: class}
}

// kinds are the kinds that moved, without Pods, in order.
func (m *movement) kinds() []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(m.made)), maps.Keys(m.gone))
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(kind string) bool { return kind == "Pod" })
}

func names(list []string) string {
	list = slices.Compact(slices.SortedFunc(slices.Values(list), cmp.Compare[string]))
	if len(list) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:3], ", "), len(list)-3)
	}
	return strings.Join(list, ", ")
}
