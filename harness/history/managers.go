package history

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ErrForgotten says that the storage no longer has the revision of a change, since it was compacted or replaced. It
// has no earlier revision either.
var ErrForgotten = errors.New("the storage no longer has that revision")

// Managers reads the managedFields that an object had just after a change. Changes are recorded without them, since
// they are often larger than the object; the storage has them until it is compacted, every five minutes.
func (s *Stream) Managers(ctx context.Context, change Change) ([]metav1.ManagedFieldsEntry, error) {
	s.recorder.mu.RLock()
	replaced := change.era != s.recorder.era
	s.recorder.mu.RUnlock()
	if replaced {
		return nil, ErrForgotten
	}
	revision, err := strconv.ParseUint(change.ResourceVersion, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the resourceVersion %q is not the number of a revision", change.ResourceVersion)
	}
	object, err := s.recorder.objectAt(ctx, s.resource, revision, change.Namespace, change.Name)
	switch {
	case apierrors.IsGone(err), apierrors.IsResourceExpired(err):
		return nil, ErrForgotten
	case err != nil:
		return nil, fmt.Errorf("reading %s of %s as it was: %w", change.Name, s.resource.GroupResource(), withoutURL(err))
	case object == nil, object.GetUID() != change.UID, object.GetResourceVersion() != change.ResourceVersion:
		return nil, fmt.Errorf("reading %s of %s as it was: the API server answers with another state", change.Name,
			s.resource.GroupResource())
	}
	return object.GetManagedFields(), nil
}
