package survey

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/inventory"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// gap is an object that the list of a version does not have, though that of another version does.
type gap struct {
	in  schema.GroupVersionKind
	uid string
}

// recheck searches again for objects that only some lists of their kind have. The versions are listed one after the
// other, so an object that is created or deleted in between is a gap, too.
func (f *observation) recheck(ctx context.Context, client dynamic.Interface) {
	f.rechecked = map[gap]Outcome{}
	for gvk, targets := range f.gaps() {
		list, err := inventory.List(ctx, client, f.Kinds[gvk.GroupKind()].In(gvk.Group, gvk.Version))
		for _, t := range targets {
			outcome := Outcome{Answer: Good}
			switch {
			case err != nil:
				outcome = unlisted(err, gvk)
			case list[t.UID] == nil:
				outcome = f.lacking(ctx, client, t, gvk)
			}
			f.rechecked[gap{gvk, t.UID}] = outcome
		}
	}
}

// gaps are the targets that the list of a version does not have, by that version.
func (f *observation) gaps() map[schema.GroupVersionKind][]*Target {
	gaps := map[schema.GroupVersionKind][]*Target{}
	for _, t := range f.targets {
		kind := t.GVK.GroupKind()
		for _, version := range f.Kinds[kind].Versions {
			gvk := kind.WithVersion(version)
			if l := f.lists[gvk]; l.err == nil && l.objects[t.UID] == nil {
				gaps[gvk] = append(gaps[gvk], t)
			}
		}
	}
	return gaps
}

// lacking is the outcome of a target that a version's list does not have the second time either. If it still exists in
// the version that showed it before, it existed at the time of the list.
func (f *observation) lacking(ctx context.Context, client dynamic.Interface, t *Target,
	gvk schema.GroupVersionKind,
) Outcome {
	shown := f.object(t, "").GroupVersionKind()
	api := client.Resource(f.Kinds[gvk.GroupKind()].In(shown.Group, shown.Version)).Namespace(t.Namespace)
	var now *unstructured.Unstructured
	_, err := writes.Persist(ctx, func(ctx context.Context) (err error) {
		now, err = api.Get(ctx, t.Name, metav1.GetOptions{})
		return err
	})
	switch {
	case apierrors.IsNotFound(err) || err == nil && string(now.GetUID()) != t.UID:
		return Outcome{} // it was deleted, which the check "moved" reports
	case err != nil:
		return Outcome{Answer: Unknown, Words: fmt.Sprintf("the list of %s does not have it, and it cannot be read as %s: %s",
			gvk.GroupVersion(), shown.GroupVersion(), writes.Words(err))}
	}
	return Outcome{Answer: Bad, Words: fmt.Sprintf("the list of %s does not have it, that of another version does",
		gvk.GroupVersion())}
}
