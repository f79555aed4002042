package survey

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// movers are the resources that are watched for changes without a user action.
func movers() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		{Version: "v1", Resource: "pods"},
		{Group: "apps", Version: "v1", Resource: "replicasets"},
		{Group: "apps", Version: "v1", Resource: "controllerrevisions"},
		{Group: "batch", Version: "v1", Resource: "jobs"},
		{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"},
	}
}

// A cluster counts as settled when nothing has changed for stillFor. A survey waits at most stillWithin for that.
// catchUp is how long the watches may take to show all earlier writes.
const (
	stillFor    = 2 * time.Second
	stillWithin = time.Minute
	catchUp     = 30 * time.Second
)

// Mark is a moment of the history.
type Mark struct {
	seq int64
	// there are the targets that existed, by uid.
	there map[string]*Target
	// leases are those that leaders held.
	leases []lease
}

// Still returns when nothing has changed for a while. It waits at most stillWithin.
func (s *Survey) Still(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stillWithin, nil)
	defer cancel()
	seq := int64(-1)
	for {
		now := s.history.Seq()
		if now == seq {
			return nil
		}
		seq = now
		select {
		case <-time.After(stillFor):
		case <-ctx.Done():
			return nil
		}
	}
}

// markOf is the mark of the moment at which the given objects were found. Objects of the last mark whose kind could not
// be listed stay in it, so that the next state notices if they are gone.
func (s *Survey) markOf(ctx context.Context, found *sight, last Mark) (Mark, error) {
	leases, err := s.leases(ctx)
	if err != nil {
		return Mark{}, err
	}
	there := make(map[string]*Target, len(found.targets))
	for uid, t := range last.there {
		if !found.listed(t) {
			there[uid] = t
		}
	}
	for _, t := range found.targets {
		there[t.UID] = t
	}
	return Mark{seq: s.history.Seq(), there: there, leases: held(leases, time.Now())}, context.Cause(ctx)
}

func (s *Survey) caughtUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, catchUp)
	defer cancel()
	for _, resource := range movers() {
		if err := s.history.Stream(resource).CatchUp(ctx, history.Scope{}); err != nil {
			return fmt.Errorf("wait for the watch of %s to catch up: %w", resource.Resource, err)
		}
	}
	return nil
}

// movement is what happened to the dependents of one given object.
type movement struct {
	gone, made map[string][]string // names by kind
	before     map[string]int      // number of dependents before, by kind
	restarted  []string
	first      time.Time
}

// judgeMoves notes whether each given object was deleted, or its dependents changed, since the mark.
func (s *Survey) judgeMoves(ctx context.Context, since Mark, found *sight) {
	if err := s.caughtUp(ctx); err != nil {
		for _, t := range s.targets {
			s.note(t, Moved, Outcome{Answer: Unknown, Words: err.Error()})
		}
		return
	}
	moved := s.movements(since, found)
	for _, t := range s.targets {
		read := s.series[key{t, t.GVK.GroupKind(), Read}]
		if read != nil && read.Outcomes[s.state].Answer == Bad && !found.listed(t) {
			continue // the check "read" reports it
		}
		_, was := since.there[t.UID]
		s.note(t, Moved, stayed(t, was, found, moved[t], s.standing[t.UID].ran()))
	}
}

// stayed is the outcome of the check "moved" for a given object, which was there at the last mark or not. ran says that
// it had pods before, if it is a Job.
func stayed(t *Target, was bool, found *sight, m *movement, ran bool) Outcome {
	served, object := found.Kinds[t.GVK.GroupKind()] != nil, found.object(t, "")
	switch {
	case was && found.listed(t) && object == nil && !expires(t):
		return Outcome{Answer: Bad, Words: "it was deleted, and nobody asked for that", Class: "deleted"}
	case was && served && object == nil && !found.listed(t):
		return Outcome{Answer: Unknown, Words: "at the end of the state, its kind could not be listed: " +
			writes.Words(found.listError(t))}
	case object != nil && object.GetDeletionTimestamp() != nil && !expires(t):
		return Outcome{Answer: Bad, Words: "it is being deleted, and nobody asked for that", Class: "deleted"}
	case movesWithTime(t) || expires(t):
		return Outcome{}
	case !was && object != nil: // everything that belongs to it was created after the mark, as it was itself
		return Outcome{Answer: Good}
	case m != nil:
		return m.outcome(ran)
	case was:
		return Outcome{Answer: Good}
	}
	return Outcome{}
}

// moved reports whether pods of a given object were replaced or restarted on the way to the current state, or the
// object itself was deleted.
func (s *answers) moved(root *Target) bool {
	series := s.series[key{root, root.GVK.GroupKind(), Moved}]
	return series != nil && series.Outcomes[s.state].Answer == Bad
}

// movesWithTime reports whether an object creates others on a schedule.
func movesWithTime(t *Target) bool { return t.GVK.Kind == "CronJob" }

// expires reports whether an object is deleted some time after it has finished.
func expires(t *Target) bool {
	_, has, _ := unstructured.NestedFieldNoCopy(t.Given.Content.Object, "spec", "ttlSecondsAfterFinished")
	return has && t.GVK.Kind == "Job"
}

// listed reports whether any version of the target's kind is served and could be listed.
func (f *sight) listed(t *Target) bool {
	how := f.Kinds[t.GVK.GroupKind()]
	return how != nil && len(how.Versions) > 0 && f.listError(t) == nil
}

// listError is the error of the target's kind if none of its served versions could be listed; nil otherwise.
func (f *sight) listError(t *Target) (err error) {
	for _, version := range f.Kinds[t.GVK.GroupKind()].Versions {
		if err = f.lists[t.GVK.GroupKind().WithVersion(version)].err; err == nil {
			return nil
		}
	}
	return err
}

// movements are the changes of dependents, by the given object that they belong to. Deletions of given objects
// themselves are not included.
func (s *Survey) movements(since Mark, found *sight) map[*Target]*movement {
	now := map[string]*Target{}
	for _, t := range found.targets {
		now[t.UID] = t
	}
	moved := map[*Target]*movement{}
	of := func(t *Target, change history.Change) *movement {
		m := moved[t.Root]
		if m == nil {
			m = &movement{gone: map[string][]string{}, made: map[string][]string{}, before: map[string]int{}, first: change.At}
			moved[t.Root] = m
		}
		if change.At.Before(m.first) {
			m.first = change.At
		}
		return m
	}
	upTo := s.history.Seq()
	for _, resource := range movers() {
		for _, change := range s.history.Stream(resource).ChangesBetween(since.seq, upTo, history.Scope{}) {
			uid := string(change.UID)
			if was := since.there[uid]; was != nil && was.Root != nil && change.Type == history.Deleted {
				of(was, change).gone[was.GVK.Kind] = append(of(was, change).gone[was.GVK.Kind], change.Name)
			}
			if is := now[uid]; is != nil && is.Root != nil && since.there[uid] == nil && change.Type == history.Added {
				of(is, change).made[is.GVK.Kind] = append(of(is, change).made[is.GVK.Kind], change.Name)
			}
			if was := since.there[uid]; was != nil && was.Root != nil && change.Before != nil &&
				restarts(change.Object) > restarts(change.Before) {
				m := of(was, change)
				m.restarted = append(m.restarted, change.Name)
			}
		}
	}
	for _, t := range since.there {
		if m := moved[t.Root]; t.Root != nil && m != nil {
			m.before[t.GVK.Kind]++
		}
	}
	return moved
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

// outcome describes a movement. New pods of a Job that had pods before mean that it runs again. New pods of a Job that
// had none mean that it could not start until now.
func (m *movement) outcome(ran bool) Outcome {
	var parts []string
	answer := Changed
	if gone, made := len(m.gone["Pod"]), len(m.made["Pod"]); gone > 0 {
		answer = Bad
		parts = append(parts, fmt.Sprintf("%d of its %d pods were deleted, %d were made anew", gone, m.before["Pod"], made))
	} else if made > 0 {
		if ran {
			answer = Bad
		}
		parts = append(parts, fmt.Sprintf("%d more pods were made: %s", made, names(m.made["Pod"])))
	}
	if len(m.restarted) > 0 {
		answer = Bad
		parts = append(parts, fmt.Sprintf("containers of %d pods were restarted", len(m.restarted)))
	}
	class := strings.Join(parts, "; ")
	for _, kind := range []string{"ControllerRevision", "ReplicaSet", "Job", "EndpointSlice"} {
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

func names(list []string) string {
	list = slices.Compact(slices.SortedFunc(slices.Values(list), cmp.Compare[string]))
	if len(list) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:3], ", "), len(list)-3)
	}
	return strings.Join(list, ", ")
}
