package history

import (
	"cmp"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// tell records a watch event.
func (s *recorded) tell(object *unstructured.Unstructured, deleted bool) {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	before := s.current[object.GetNamespace()][object.GetName()]
	same := before != nil && before.UID == object.GetUID()
	switch {
	case deleted && same:
		s.record(Deleted, object, 0)
	case deleted, same && atLeast(before.ResourceVersion, object.GetResourceVersion()):
		// It is known already: a resumed watch may begin with what a list has reported.
	case same:
		s.record(Modified, object, 0)
	case before != nil:
		// Another object of that name exists, so the one before must have been deleted.
		batch := s.recorder.seq + 1
		s.record(Deleted, before.Object, batch)
		s.record(Added, object, batch)
	default:
		s.record(Added, object, 0)
	}
	s.advanceTo(object.GetResourceVersion())
	s.broadcast()
}

// replace records the changes between what was known and a complete list, which becomes what is known. told: every
// change before the list is known already, so what is left is what another API server shows differently.
func (s *recorded) replace(objects []*unstructured.Unstructured, resourceVersion string, told bool) {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	listed := map[string]map[string]*unstructured.Unstructured{}
	for _, object := range objects {
		put(listed, object.GetNamespace(), object.GetName(), object)
	}
	batch := s.recorder.seq + 1
	for _, r := range s.goneFrom(listed) {
		s.record(Deleted, r.Object, batch)
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int {
		order, _ := compare(a.GetResourceVersion(), b.GetResourceVersion())
		return order
	})
	for _, object := range objects {
		before := s.current[object.GetNamespace()][object.GetName()]
		switch {
		case before == nil:
			s.record(Added, object, batch)
		case before.ResourceVersion != object.GetResourceVersion(), !equal(before.Object.Object, object.Object):
			s.record(Modified, object, batch)
		}
	}
	switch {
	case !s.listed:
		s.unknownSince, s.err = s.recorder.clock.Now(), errOpening
	case !told:
		s.missed = true
		s.wentBack = s.wentBack || s.progress == ""
		if older(resourceVersion, s.progress) {
			s.wentBack, s.expected = true, "" // the storage may not have the expected write
		}
	}
	s.progress, s.listed = resourceVersion, true
	s.broadcast()
}

// goneFrom returns the records of the objects that are not in the list, in the order in which they were last seen. They
// include those that are in no scope (AsideLabel).
func (s *recorded) goneFrom(listed map[string]map[string]*unstructured.Unstructured) []*record {
	var gone []*record
	for namespace, names := range s.current {
		for name, r := range names {
			if object := listed[namespace][name]; object == nil || object.GetUID() != r.UID {
				gone = append(gone, r)
			}
		}
	}
	slices.SortFunc(gone, func(a, b *record) int { return cmp.Compare(a.Seq, b.Seq) })
	return gone
}

func (s *recorded) record(t Type, object *unstructured.Unstructured, batch int64) {
	s.recorder.seq++
	before := s.current[object.GetNamespace()][object.GetName()]
	switch {
	case t == Deleted:
	case before == nil:
		s.recorder.shared.object(object.Object)
	default:
		s.recorder.shared.next(object.Object, before.Object.Object)
	}
	r := &record{
		Change: Change{
			Seq:             s.recorder.seq,
			At:              s.recorder.clock.Now(),
			Type:            t,
			Object:          object,
			Namespace:       object.GetNamespace(),
			Name:            object.GetName(),
			UID:             object.GetUID(),
			ResourceVersion: object.GetResourceVersion(),
			Relisted:        batch != 0,
			era:             s.recorder.era,
			sameVersion:     t == Modified && before.ResourceVersion == object.GetResourceVersion(),
		},
		labels: object.GetLabels(),
		before: before,
		batch:  batch,
	}
	s.records = append(s.records, r)
	if before != nil {
		r.follow(before)
		s.recorder.retained.supersede(before)
	}
	if t == Deleted {
		s.recorder.retained.supersede(r)
		delete(s.current[r.Namespace], r.Name)
		if len(s.current[r.Namespace]) == 0 {
			delete(s.current, r.Namespace)
		}
		return
	}
	put(s.current, r.Namespace, r.Name, r)
}

func put[V any](index map[string]map[string]V, namespace, name string, value V) {
	if index[namespace] == nil {
		index[namespace] = map[string]V{}
	}
	index[namespace][name] = value
}

// bookmark records that every change up to the resourceVersion has been reported.
func (s *recorded) bookmark(resourceVersion string) {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	s.advanceTo(resourceVersion)
	s.broadcast()
}

func (s *recorded) advanceTo(resourceVersion string) {
	if !atLeast(s.progress, resourceVersion) {
		s.progress = resourceVersion
	}
}

// opened records that the first watch is open, although it may still be refused.
func (s *Stream) opened() {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	if errors.Is(s.err, errOpening) {
		s.err = errOpened
		s.broadcast()
	}
}

// connected records that the watch is open, from the last resourceVersion that was watched or listed.
func (s *recorded) connected() {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	if s.synced {
		return
	}
	if s.inGap() {
		s.gaps = append(s.gaps, s.gap(s.recorder.clock.Now()))
	}
	s.synced, s.missed, s.wentBack, s.err = true, false, false, nil
	s.broadcast()
}

// lost records that the stream is not connected, and why. A connection that proved nothing did not end the gap before
// it.
func (s *recorded) lost(err error, provedNothing bool) {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	s.disconnect(err, provedNothing)
	s.broadcast()
}

func (s *recorded) disconnect(err error, provedNothing bool) {
	s.err = err
	if !s.synced {
		return
	}
	s.synced, s.unknownSince = false, s.recorder.clock.Now()
	if last := len(s.gaps) - 1; provedNothing && last >= 0 {
		gap := s.gaps[last]
		s.unknownSince, s.missed, s.wentBack = gap.From, gap.Relisted, gap.WentBack
		s.gaps = s.gaps[:last]
	}
}

func (s *recorded) broadcast() {
	close(s.wake)
	s.wake = make(chan struct{})
}
