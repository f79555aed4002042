package window

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/matching"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// writes: an update through the old server that changes nothing is accepted, loses nothing, and leaves the stored bytes
// unchanged. An API server stores an object only if its bytes change, so a new resource version shows a change.
func (j *judge) writes(ctx context.Context) {
	written, asked := 0, map[schema.GroupKind]bool{}
	for _, s := range j.seen {
		if asked[s.kind.GroupKind()] || !s.how.Updatable || s.throughNew == nil {
			continue // one version is enough: all versions of an object are stored as one
		}
		asked[s.kind.GroupKind()] = true
		for _, uid := range s.alike {
			if ctx.Err() != nil {
				return
			}
			if j.write(ctx, s, s.throughNew[uid]) {
				written++
			}
		}
	}
	j.evidence("%d objects were written unchanged through %s", written, j.old.Name)
}

// conflicts is the number of tries to write an object that others write, too.
const conflicts = 5

// write writes an object as the old server shows it. It returns whether the write could be judged.
func (j *judge) write(ctx context.Context, s *seen, before *unstructured.Unstructured) bool {
	through, again := in(j.old.client, s, before), in(j.new.client, s, before)
	for range conflicts {
		read, err := through.Get(ctx, before.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false // it was deleted meanwhile
		}
		var after *unstructured.Unstructured
		if err == nil {
			now, newErr := again.Get(ctx, before.GetName(), metav1.GetOptions{})
			switch {
			case apierrors.IsNotFound(newErr):
				return false
			case newErr != nil:
				j.unjudged("writes: read %s through %s: %s", named(before), j.new.Name, writes.Words(newErr))
				return false
			}
			if before = now; before.GetResourceVersion() != read.GetResourceVersion() {
				continue
			}
			after, err = through.Update(ctx, read, metav1.UpdateOptions{FieldManager: manager})
		}
		switch {
		case apierrors.IsConflict(err):
			continue
		case writes.Judge(err) == writes.Rejected:
			_, other := again.Update(ctx, before, metav1.UpdateOptions{
				FieldManager: manager, DryRun: []string{metav1.DryRunAll},
			})
			if apierrors.IsConflict(other) {
				continue // others wrote it, so the answers of the two servers are about different objects
			}
			return j.rejected(before, err, other)
		case err != nil:
			j.unjudged("writes: %s through %s: %s", named(before), j.old.Name, writes.Words(err))
			return false
		case after.GetResourceVersion() != read.GetResourceVersion():
			j.rewritten(ctx, again, before, after)
		}
		return true
	}
	j.unjudged("writes: others wrote %s during each of %d tries", named(before), conflicts)
	return false
}

// rejected judges an update that the old server rejects by the answer of the new server to the same update. It returns
// whether that was possible.
func (j *judge) rejected(o *unstructured.Unstructured, old, new error) bool {
	switch {
	case apierrors.IsNotFound(old) && apierrors.IsNotFound(new):
		return false // it was deleted meanwhile
	case apierrors.IsNotFound(new):
		j.unjudged("writes: %s rejects an unchanged update of %s, which was then deleted: %s", j.old.Name, named(o),
			writes.Words(old))
		return false
	case writes.Judge(new) == writes.Unknown:
		j.unjudged("writes: %s rejects an unchanged update of %s; it is unknown whether %s does: %s", j.old.Name, named(o),
			j.new.Name, writes.Words(new))
		return false
	case writes.Judge(new) == writes.Rejected:
		j.evidence("both servers reject an unchanged update of %s: %s", named(o), writes.Words(new))
	default:
		j.problem("writes: %s rejects an unchanged update of %s: %s", j.old.Name, named(o), writes.Words(old))
	}
	return true
}

// rewritten judges an update through the old server that sent unchanged content, but changed the stored object. The new
// server then does the same: the two servers differ if it stores the object once more, or does not make the changes.
func (j *judge) rewritten(ctx context.Context, through dynamic.ResourceInterface,
	before, sent *unstructured.Unstructured,
) {
	after, err := through.Get(ctx, before.GetName(), metav1.GetOptions{})
	if err != nil {
		j.unjudged("writes: read %s after its update: %s", named(before), writes.Words(err))
		return
	}
	if after.GetResourceVersion() != sent.GetResourceVersion() {
		j.unjudged("writes: others wrote %s before it could be compared", named(before))
		return
	}
	again, err := through.Update(ctx, after, metav1.UpdateOptions{FieldManager: manager})
	if err != nil {
		j.unjudged("writes: an unchanged update of %s through %s changed it; the same through %s: %s", named(before),
			j.old.Name, j.new.Name, writes.Words(err))
		return
	}
	changes, repeated := changed(before, after), changed(after, again)
	switch {
	case len(changes) > 0 && slices.Equal(paths(changes), paths(repeated)):
		j.evidence("both servers change %s in an unchanged update: %s", named(before), written(before.GetKind(), changes))
	case len(changes) > 0:
		j.problem("writes: an unchanged update of %s through %s changed the object, as seen through %s: %s", named(before),
			j.old.Name, j.new.Name, written(before.GetKind(), changes))
	case again.GetResourceVersion() != after.GetResourceVersion():
		j.problem("writes: an unchanged update of %s through %s was stored (resource version %s -> %s), and then one "+
			"through %s, though the object reads the same: they store different versions or encodings", named(before),
			j.old.Name, before.GetResourceVersion(), sent.GetResourceVersion(), j.new.Name)
	default:
		j.evidence("%s had been stored in another version or encoding than both servers use", named(before))
	}
}

// changed returns what an update changed, except the generation.
func changed(before, after *unstructured.Unstructured) []matching.Change {
	return slices.DeleteFunc(matching.Changes(content(before), content(after)),
		func(c matching.Change) bool { return c.Path == "metadata.generation" })
}

// paths are the fields that changed, without their values: a counter has another value each time.
func paths(changes []matching.Change) []string {
	var all []string
	for _, c := range changes {
		all = append(all, c.Path)
	}
	return all
}

// in is the client of an object's kind and namespace.
func in(client dynamic.Interface, s *seen, o *unstructured.Unstructured) dynamic.ResourceInterface {
	if s.how.Namespaced {
		return client.Resource(s.resource).Namespace(o.GetNamespace())
	}
	return client.Resource(s.resource)
}
