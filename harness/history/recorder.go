// Package history records every change of every watched object in the API server's order, with one shared watch per
// resource that survives broken streams and restarts of the API server.
package history

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// DefaultMaxBytes bounds the older states that a Recorder keeps by default.
const DefaultMaxBytes = 256 << 20

// Recorder watches resources and keeps what it saw. It is safe for concurrent use.
type Recorder struct {
	client   dynamic.Interface
	metadata metadata.Interface
	watches  rest.Interface
	clock    clock.PassiveClock
	pageSize int64

	// ctx ends the streams; it lives as long as the recorder, not as long as a call.
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	// mu guards what follows and the state of every stream, so that all changes have one order.
	mu       sync.RWMutex
	seq      int64
	streams  map[schema.GroupVersionResource]*Stream
	retained retention
	shared   *shared
	// writes may be nil.
	writes Writes
	// era counts how often the storage was replaced.
	era int
	// paused is closed when a pause is over; nil without one.
	paused chan struct{}
}

// Option changes how a Recorder works.
type Option func(*Recorder)

// WithMaxBytes bounds the memory, in estimated bytes, for the older states of objects. They are packed first, as
// merge patches to the states before them. Then the oldest are dropped, and only their metadata remains (see
// Change.Object). The newest state of every object is always kept.
func WithMaxBytes(n int64) Option { return func(r *Recorder) { r.retained.maxBytes = n } }

// WithClock sets the clock that changes and gaps are stamped with. It also measures how long a watch lasts.
func WithClock(c clock.PassiveClock) Option { return func(r *Recorder) { r.clock = c } }

// WithPageSize sets how many objects a list asks for at once. Default: 500.
func WithPageSize(n int64) Option { return func(r *Recorder) { r.pageSize = n } }

// Writes returns the revisions of the storage that may have changed objects of a resource: after the first revision,
// up to the second, in any order. No other revision in between changed one.
type Writes func(ctx context.Context, resource schema.GroupResource, after, upTo int64) ([]int64, error)

// WithWrites reduces what is read after a restart of the API server to the revisions that matter. By default, or if
// it returns an error, each revision is read. nil is no source.
func WithWrites(w Writes) Option { return func(r *Recorder) { r.writes = w } }

// New returns a recorder that watches nothing yet. The configuration must not limit the rate of requests (QPS: -1) or
// their time (Timeout: 0); otherwise observations are late.
func New(config *rest.Config, options ...Option) (*Recorder, error) {
	config = rest.CopyConfig(config)
	config.Wrap(newImpatient)
	client, err1 := dynamic.NewForConfig(config)
	meta, err2 := metadata.NewForConfig(config)
	watches, err3 := rest.UnversionedRESTClientFor(dynamic.ConfigFor(config))
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("make a client for the history: %w", err)
	}
	r := &Recorder{
		client:   client,
		metadata: meta,
		watches:  watches,
		clock:    clock.RealClock{},
		pageSize: 500,
		streams:  map[schema.GroupVersionResource]*Stream{},
		retained: retention{maxBytes: DefaultMaxBytes},
		shared:   newShared(),
	}
	r.ctx, r.stop = context.WithCancel(context.Background())
	for _, option := range options {
		option(r)
	}
	return r, nil
}

// Stream returns the stream of a resource in all namespaces. The first call starts it, and it runs until Close.
func (r *Recorder) Stream(resource schema.GroupVersionResource) *Stream {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.streams[resource]; ok {
		return s
	}
	s := newStream(r, resource)
	r.streams[resource] = s
	if r.ctx.Err() != nil {
		s.err = errClosed
		return s
	}
	r.running.Go(func() { s.follow(r.ctx) })
	return s
}

// Watched returns the stream of a resource if there is one; nil if not.
func (r *Recorder) Watched(resource schema.GroupVersionResource) *Stream {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.streams[resource]
}

// Streams returns all streams, in no order.
func (r *Recorder) Streams() []*Stream {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Collect(maps.Values(r.streams))
}

// Now is the time by the recorder's clock, which changes and gaps are stamped with.
func (r *Recorder) Now() time.Time { return r.clock.Now() }

// Seq is the number of the last change that was recorded, of any stream.
func (r *Recorder) Seq() int64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.seq
}

// Dropped is the number of older states that were dropped to stay within WithMaxBytes.
func (r *Recorder) Dropped() int64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.retained.dropped
}

// Close ends all streams and returns when they have ended. What was recorded can still be read.
func (r *Recorder) Close() {
	r.stop()
	r.running.Wait()
}
