package history

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	errStarting = errors.New("the first list has not been answered yet")
	errOpening  = errors.New("the watch is being opened")
	errOpened   = errors.New("the watch has only just been opened")
	errClosed   = errors.New("the recorder was closed")
)

// Stream follows one resource in all namespaces.
type Stream struct {
	recorded

	// relist is filled when a new list is requested.
	relist chan struct{}

	// The rest is guarded by recorder.mu.

	// working: the stream is being listed or watched. interrupt ends that.
	working   bool
	interrupt context.CancelFunc
	// mustList: the next attempt must begin with a list, whatever was seen before.
	mustList bool
	// bridgeable: only the API server does not know the time before it; the storage continues from what was seen.
	bridgeable bool
}

// recorded is what was recorded of a resource: its objects and their changes. recorder.mu guards all but the first two
// fields.
type recorded struct {
	recorder *Recorder
	resource schema.GroupVersionResource

	// records of all changes, in order of their numbers.
	records []*record
	// current is the newest record of every existing object, by namespace and name.
	current map[string]map[string]*record
	// progress is the resourceVersion up to which every change has been seen; "" before the first list, and before the
	// first list after a pause.
	progress string
	// expected is the newest resourceVersion of a write that the watch will report; "" if none is known.
	expected string
	// listed says that there was a list.
	listed bool
	// synced: the watch is connected. If not, unknownSince and err say since when, and why.
	synced       bool
	unknownSince time.Time
	err          error
	gaps         []Gap
	// missed: there was another list since the watch was last connected, so changes may have been missed. wentBack: what
	// it returned was older than what had been seen.
	missed, wentBack bool
	// wake is closed at the next change of any of the above.
	wake chan struct{}
}

func newStream(r *Recorder, resource schema.GroupVersionResource) *Stream {
	return &Stream{
		recorded: recorded{
			recorder:     r,
			resource:     resource,
			current:      map[string]map[string]*record{},
			unknownSince: r.clock.Now(),
			err:          errStarting,
			wake:         make(chan struct{}),
		},
		relist:   make(chan struct{}, 1),
		mustList: true,
	}
}

// Resource returns the resource of the stream.
func (s *recorded) Resource() schema.GroupVersionResource { return s.resource }

// View is what is known at one moment.
type View struct {
	// Objects in the scope, sorted by namespace and name. They are shared: read them only.
	Objects []*unstructured.Unstructured
	// Seq is the number of the last change that the objects include: Since(Seq, ...) continues from here.
	Seq int64
	// Synced says that the stream is connected. If not, the current objects are unknown.
	Synced bool
	// UnknownSince and Err say since when, and why; they are zero when Synced.
	UnknownSince time.Time
	Err          error
}

// View returns the objects in scope and the state of the stream, as of one moment.
func (s *recorded) View(scope Scope) View {
	s.recorder.mu.RLock()
	defer s.recorder.mu.RUnlock()
	view := View{Seq: s.recorder.seq, Synced: s.synced}
	if !s.synced {
		view.UnknownSince, view.Err = s.unknownSince, s.err
	}
	records := s.inScope(scope)
	slices.SortFunc(records, func(a, b *record) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	view.Objects = make([]*unstructured.Unstructured, len(records))
	for i, r := range records {
		view.Objects[i] = r.Object
	}
	return view
}

// inScope returns the current records in scope, in no order.
func (s *recorded) inScope(scope Scope) []*record {
	var records []*record
	collect := func(names map[string]*record) {
		for _, r := range names {
			if scope.has(r.Namespace, r.Name, r.labels) {
				records = append(records, r)
			}
		}
	}
	if scope.Namespace != "" {
		collect(s.current[scope.Namespace])
		return records
	}
	for _, names := range s.current {
		collect(names)
	}
	return records
}

// Gaps returns the times during which the stream was not connected, in order, from its first list on. The moment
// between a first list and its watch is not a gap.
func (s *recorded) Gaps() []Gap {
	s.recorder.mu.RLock()
	defer s.recorder.mu.RUnlock()
	gaps := slices.Clone(s.gaps)
	if s.inGap() {
		gaps = append(gaps, s.gap(time.Time{}))
	}
	return gaps
}

// gap is the gap that lasts or ends now.
func (s *recorded) gap(to time.Time) Gap {
	return Gap{From: s.unknownSince, To: to, Err: s.err, Relisted: s.missed, WentBack: s.wentBack}
}

func (s *recorded) inGap() bool {
	return !s.synced && s.listed && !errors.Is(s.err, errOpening) && !errors.Is(s.err, errOpened)
}
