package history

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	// connectTimeout is how long the API server may take to begin a watch, or to answer one page of a list.
	connectTimeout = 30 * time.Second
	// answeredWithin is how long the API server may take to say, on an open watch, that it cannot be resumed.
	answeredWithin = 50 * time.Millisecond
	// provenAfter is how long a connection that reports nothing must last to count as working.
	provenAfter = time.Second
)

var (
	errEnded    = errors.New("the API server ended the watch")
	errDemanded = errors.New("a new list was requested")
)

// follow lists and watches until the context ends. It resumes a watch where it broke off. If the API server no longer
// can do that, it lists again.
func (s *Stream) follow(ctx context.Context) {
	tries := new(retry)
	for tries.next(ctx) && s.begin(ctx, tries) {
	}
	s.lost(errClosed, false)
}

// begin makes one attempt. If the recorder is paused, it waits first. It returns false if the context ended first.
func (s *Stream) begin(ctx context.Context, tries *retry) bool {
	working, mustList, ok := s.enter(ctx)
	if !ok {
		return false
	}
	defer s.leave()
	if mustList {
		if err := s.anew(working); err != nil {
			s.needList()
			s.lost(err, false)
			return true
		}
	}
	proven, err := s.watch(working)
	if cannotResume(err) {
		s.needList()
		s.mayBridge(apierrors.IsGone(err) || apierrors.IsResourceExpired(err))
	}
	s.lost(err, !proven)
	if proven {
		tries.reset()
	}
	return true
}

// anew lists what is there, and records all events before it that are still known.
func (s *Stream) anew(ctx context.Context) error {
	objects, resourceVersion, err := s.list(ctx, Scope{})
	if err != nil {
		return err
	}
	between, complete, err := s.bridge(ctx, objects, resourceVersion)
	if err != nil {
		return err
	}
	for _, event := range between {
		s.tell(event.object, event.deleted)
	}
	s.replace(objects, resourceVersion, complete)
	return nil
}

// watch follows one connection to its end. It returns why the connection ended, and whether it worked: it reported
// something, or it lasted. A connection that ends with the answer that it cannot be resumed never worked, however late
// the answer comes.
func (s *Stream) watch(ctx context.Context) (proven bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	connection, err := s.connect(ctx, cancel)
	if err != nil {
		return false, err
	}
	defer connection.Stop()
	s.opened()
	began := s.recorder.clock.Now()
	told, err := s.consume(ctx, connection.ResultChan())
	lasted := s.recorder.clock.Since(began) > provenAfter && !refused(err)
	return told || lasted, err
}

func (s *Stream) connect(ctx context.Context, cancel context.CancelFunc) (watch.Interface, error) {
	s.recorder.mu.RLock()
	from := s.progress
	s.recorder.mu.RUnlock()
	seconds := 300 + rand.IntN(300) // spreads load, nothing more
	timer := time.AfterFunc(connectTimeout, cancel)
	defer timer.Stop()
	connection, err := s.recorder.watches.Get().AbsPath(pathOf(s.resource)).
		Param("watch", "true").
		Param("allowWatchBookmarks", "true").
		Param("resourceVersion", from).
		Param("timeoutSeconds", strconv.Itoa(seconds)).
		Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("watching %s: %w", s.resource.GroupResource(), withoutURL(err))
	}
	return watch.NewStreamWatcher(newEvents(connection), apierrors.NewClientErrorReporter(http.StatusInternalServerError,
		http.MethodGet, "ClientWatchDecoding")), nil
}

// pathOf returns the API server's path for a resource in all namespaces.
func pathOf(r schema.GroupVersionResource) string {
	if r.Group == "" {
		return path.Join("/api", r.Version, r.Resource)
	}
	return path.Join("/apis", r.Group, r.Version, r.Resource)
}

// consume records events until the connection ends, and reports whether there was any.
func (s *Stream) consume(ctx context.Context, events <-chan watch.Event) (told bool, err error) {
	// A watch that cannot be resumed may still open and say so in its first event. And client-go turns a connection that
	// broke at once into a watch that has already ended.
	opening := time.NewTimer(answeredWithin)
	defer opening.Stop()
	var relist <-chan struct{} // nil until the watch is open
	for {
		select {
		case event, open := <-events:
			if !open {
				return told, errEnded
			}
			if err := s.handle(event); err != nil {
				return told, err
			}
			told = true
		case <-opening.C:
		case <-relist:
			return told, errDemanded
		case <-ctx.Done():
			return told, errClosed
		}
		if relist == nil {
			s.connected()
			relist = s.relist
		}
	}
}

func (s *Stream) handle(event watch.Event) error {
	if event.Type == watch.Error {
		return fmt.Errorf("watching %s: %w", s.resource.GroupResource(), apierrors.FromObject(event.Object))
	}
	object, ok := event.Object.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("watching %s: the API server sent a %T with the event %q", s.resource.GroupResource(), event.Object,
			event.Type)
	}
	switch event.Type {
	case watch.Added, watch.Modified, watch.Deleted:
		withoutManagedFields(object)
		s.tell(object, event.Type == watch.Deleted)
	case watch.Bookmark:
		s.bookmark(object.GetResourceVersion())
	default:
		return fmt.Errorf("watching %s: the API server sent the unknown event %q", s.resource.GroupResource(), event.Type)
	}
	return nil
}

// cannotResume reports whether the watch cannot continue from the last resourceVersion: a new list was requested, or
// the API server refuses it.
func cannotResume(err error) bool { return errors.Is(err, errDemanded) || refused(err) }

// refused reports whether the API server says that the resourceVersion is too old for it (410) or, after its storage
// was replaced, too new.
func refused(err error) bool {
	return apierrors.IsGone(err) || apierrors.IsResourceExpired(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

func withoutManagedFields(object *unstructured.Unstructured) {
	unstructured.RemoveNestedField(object.Object, "metadata", "managedFields")
}
