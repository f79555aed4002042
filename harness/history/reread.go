package history

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Reread records what another API server shows differently of the same stored objects. Their resourceVersions are the
// same, so no watch reports it (a field that it does not serve, a default that it sets). The watches continue, so
// there is no gap. Use it after a transition. It returns when every stream has been compared. A stream that can't be
// compared begins with a list as soon as it can.
func (r *Recorder) Reread(ctx context.Context) {
	var reading sync.WaitGroup
	for _, s := range r.Streams() {
		reading.Go(func() {
			objects, _, err := s.list(ctx, Scope{})
			if err != nil {
				s.demandList()
				return
			}
			s.reread(objects)
		})
	}
	reading.Wait()
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
