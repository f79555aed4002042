package survey

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
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
	// seq is the moment up to which changes were judged. looked is an earlier moment: what was made after it may be
	// missing from there.
	seq, looked int64
	// there are the targets that existed, by uid.
	there map[string]*Target
	// leases are those that leaders held.
	leases []lease
	// controllers are the resources of workloads whose controllers worked.
	controllers []schema.GroupVersionResource
}

// Since returns the mark with the moment of an earlier one: what happened between the two counts as after it. The zero
// Mark is no earlier one.
func (m Mark) Since(earlier Mark) Mark {
	if earlier.there != nil {
		m.seq, m.looked, m.there = earlier.seq, earlier.looked, earlier.there
	}
	return m
}

// Still returns when nothing has changed for a while. It waits at most stillWithin.
func (s *Survey) Still(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stillWithin, nil)
	defer cancel()
	seq := int64(-1)
	for now := s.history.Seq(); now != seq && pauses.For(ctx, stillFor); now = s.history.Seq() {
		seq = now
	}
	return nil
}

// markOf is the mark of a moment of the history, shortly after the objects were found.
func (s *Survey) markOf(ctx context.Context, seq, looked int64, found *observation, last Mark) (Mark, error) {
	leases, err := s.leases(ctx)
	if err != nil {
		return Mark{}, err
	}
	mark := Mark{
		seq: seq, looked: looked, there: found.there(last), leases: held(leases, time.Now()),
		controllers: last.controllers,
	}
	return mark, context.Cause(ctx)
}

// there are the targets that exist, by uid. Those of earlier looks whose kind could not be listed count, too, so that
// the next state notices if they are gone.
func (f *observation) there(last Mark) map[string]*Target {
	there := make(map[string]*Target, len(f.targets))
	for uid, t := range last.there {
		if t.Root == nil && !f.listed(t) {
			there[uid] = t
		}
	}
	for _, t := range slices.Concat(f.hidden, f.targets) {
		there[t.UID] = t
	}
	return there
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

// judgeMoves notes whether each given object was deleted, or its dependents changed, since the mark. It returns the
// moment of the history up to which it has looked, so that a later change belongs to the next state.
func (s *Survey) judgeMoves(ctx context.Context, since Mark, found *observation) int64 {
	if err := s.caughtUp(ctx); err != nil {
		for _, t := range s.targets {
			s.note(t, Moved, Outcome{Answer: Unknown, Words: err.Error()})
		}
		return s.history.Seq()
	}
	upTo := s.history.Seq()
	moved := s.movements(since, upTo, found)
	for _, t := range s.targets {
		read := s.series[key{t, t.GVK.GroupKind(), Read}]
		if read != nil && read.Outcomes[s.state].Answer == Bad && !found.listed(t) {
			continue // the check "read" reports it
		}
		_, was := since.there[t.UID]
		_, anew := s.anew[t]
		before := s.standing[t.UID]
		o := stayed(t, was, anew, found, moved[t], before)
		if why := found.blocked(t); why != "" && o.Answer == Changed { // it has a new revision
			o = Outcome{Answer: Unknown, Words: Blocked + why}
		}
		s.note(t, Moved, o)
	}
	return upTo
}

// GoneAtOnce is why an object is not judged that does not live until its first check: a controller may delete it, such
// as a Job whose ttlSecondsAfterFinished is short.
const GoneAtOnce = "it was created, and was gone before the first check"

// Classes of the outcomes in which an object is gone: it stays gone.
const (
	deleted  = "deleted"
	unserved = "unserved"
)

// gone reports whether an outcome of the check "moved" is that the object is gone, and not that its pods moved.
func gone(class string) bool { return class == deleted || class == unserved }

// stayed is the outcome of the check "moved" for a given object, which was there at the last mark or not. anew says
// that it was created since the last state. before is its status at the last state.
func stayed(t *Target, was, anew bool, found *observation, m *movement, before standing) Outcome {
	served, object := found.Kinds[t.GVK.GroupKind()] != nil, found.object(t, "")
	switch {
	case anew && !was && found.listed(t) && object == nil:
		return Outcome{Answer: Unknown, Words: GoneAtOnce}
	case was && found.listed(t) && object == nil && !expires(t):
		return Outcome{Answer: Bad, Words: "it was deleted without a request", Class: deleted}
	case was && served && object == nil && !found.listed(t):
		return Outcome{Answer: Unknown, Words: "at the end of the state, its kind could not be listed: " +
			writes.Words(found.listError(t))}
	case was && !served:
		o := found.notServed(t)
		if o.Answer == Bad {
			o.Words, o.Class = "at the end of the state, "+o.Words, unserved
		}
		return o
	case object != nil && object.GetDeletionTimestamp() != nil && !expires(t):
		return Outcome{Answer: Bad, Words: "it is being deleted without a request", Class: deleted}
	case movesWithTime(t) || expires(t) || object != nil && overdue(object):
		return Outcome{}
	case !was && object != nil: // everything that belongs to it was created after the mark, as it was itself
		return Outcome{Answer: Good}
	case m != nil:
		return m.outcome(before)
	case was && found.early != "":
		return Outcome{Answer: Unknown, Words: found.early}
	case was:
		return Outcome{Answer: Good}
	}
	return Outcome{}
}

// Blocked is how the words begin about a StatefulSet that has a new revision, but whose pods cannot show what it does.
const Blocked = "it is not known whether its pods would restart, since one does not run: "

// blocked is why a pod of a StatefulSet does not run; "" if all run. The controller replaces no pod meanwhile, unless
// it manages them in parallel.
func (f *observation) blocked(root *Target) string {
	set := f.object(root, "")
	if root.GVK.GroupKind() != (schema.GroupKind{Group: "apps", Kind: "StatefulSet"}) || set == nil {
		return ""
	}
	if policy, _, _ := unstructured.NestedString(set.Object, "spec", "podManagementPolicy"); policy == "Parallel" {
		return ""
	}
	for _, t := range f.targets {
		if t.Root != root || t.GVK.GroupKind() != (schema.GroupKind{Kind: "Pod"}) {
			continue
		}
		if o := f.object(t, ""); o != nil && o.GetDeletionTimestamp() == nil {
			if why := whyStuck(o); why != "" {
				return why
			}
		}
	}
	return ""
}

// moved reports whether pods of a given object were replaced or restarted on the way to the current state, or the
// object itself was deleted.
func (s *answers) moved(root *Target) bool {
	series := s.series[key{root, root.GVK.GroupKind(), Moved}]
	return series != nil && series.Outcomes[s.state].Answer == Bad
}

// movesWithTime reports whether a given object creates others on a schedule.
func movesWithTime(t *Target) bool { return scheduled(t.GVK.Kind) }

// expires reports whether a given object is deleted some time after it has finished.
func expires(t *Target) bool { return expiring(t.Given.Content) }

// listed reports whether any version of the target's kind is served and could be listed.
func (f *observation) listed(t *Target) bool { return f.readable(t.GVK.GroupKind()) != "" }

// readable is the first version of a kind that could be listed; "" if there is none.
func (f *observation) readable(kind schema.GroupKind) string {
	how := f.Kinds[kind]
	if how == nil {
		return ""
	}
	for _, version := range how.Versions {
		if f.lists[kind.WithVersion(version)].err == nil {
			return version
		}
	}
	return ""
}

// hides reports whether a dependent of an earlier look may still be there, though its kind cannot be listed. If its
// kind has been removed, it is gone.
func (f *observation) hides(t *Target) bool {
	kind := t.GVK.GroupKind()
	return !f.listed(t) && (f.examined[kind] || f.Undiscovered[kind.Group] != nil)
}

// listError is the error of the target's kind if none of its served versions could be listed; nil otherwise.
func (f *observation) listError(t *Target) (err error) {
	for _, version := range f.Kinds[t.GVK.GroupKind()].Versions {
		if err = f.lists[t.GVK.GroupKind().WithVersion(version)].err; err == nil {
			return nil
		}
	}
	return err
}
