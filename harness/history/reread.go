package history

import (
	"cmp"
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Reread records what another API server shows differently of the same stored objects. Their resourceVersions are the
// same, so no watch reports it (a field that it does not serve, a default that it sets). The watches continue, so
// there is no gap. Use it after a transition. It returns when every stream has been compared. It asks again for some
// seconds, since the API server has just started. A stream that can't be compared begins with a list as soon as it can.
func (r *Recorder) Reread(ctx context.Context) {
	var reading sync.WaitGroup
	for _, s := range r.Streams() {
		reading.Go(func() {
			objects, err := s.listAgain(ctx)
			switch {
			case apierrors.IsNotFound(err): // this API server does not serve the version: there is nothing to compare
			case err != nil:
				s.demandList()
			default:
				s.reread(objects)
			}
		})
	}
	reading.Wait()
}

// listedWithin is how long an API server that has just started may reject lists.
const listedWithin = 5 * time.Second

// listAgain lists until it succeeds, or until the API server has had enough time.
func (s *Stream) listAgain(ctx context.Context) (objects []*unstructured.Unstructured, err error) {
	limited, cancel := context.WithTimeout(ctx, listedWithin)
	defer cancel()
	for again := new(retry); again.next(limited); {
		if objects, _, err = s.list(ctx, Scope{}); err == nil || unreadable(err) {
			return objects, err
		}
	}
	return nil, cmp.Or(err, context.Cause(limited))
}

// reread records the objects that are known at the listed resourceVersion and look different. The watch will report
// all others.
func (s *recorded) reread(objects []*unstructured.Unstructured) {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	batch := s.recorder.seq + 1
	for _, object := range objects {
		known := s.current[object.GetNamespace()][object.GetName()]
		if known == nil || known.UID != object.GetUID() || known.ResourceVersion != object.GetResourceVersion() {
			continue
		}
		if !equal(known.Object.Object, object.Object) {
			s.record(Modified, object, batch)
		}
	}
	s.broadcast()
}
