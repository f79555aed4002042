package history

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

var errWentBack = errors.New("the API server's storage is older than the watch; listing again")

// CatchUp returns when the stream knows at least everything about the objects in scope that was true when CatchUp was
// called. It asks the API server with one consistent list, repeats it while that fails, and waits until the watch has
// reported at least as much. After an interruption it also waits until the watch is connected again: what came and
// went in between is in no list. It returns an error if the context ends first: then it could not look.
//
// An object that came and went just before the call is in no list either. CatchUp waits for its events if one of them
// is expected (Expect). For others there is no cheap way: no API tells how far a watch has come
// (kubernetes/kubernetes#127693), and the API server says so, in a bookmark, only once a minute.
func (s *Stream) CatchUp(ctx context.Context, scope Scope) error {
	var cause error
	for tries := new(retry); tries.next(ctx); {
		floor, expected := s.seen()
		objects, resourceVersion, err := s.identities(ctx, scope)
		switch {
		case err != nil && ctx.Err() != nil:
			// The error only says that the time was up.
		case err != nil:
			cause = err
		case floor != "" && older(resourceVersion, floor):
			cause = errWentBack
			s.demandList()
		default:
			if older(resourceVersion, expected) {
				expected = "" // the storage went back, so it does not have the write
			}
			return s.await(ctx, look{scope, objects, resourceVersion, expected})
		}
	}
	if cause == nil {
		cause = s.View(Scope{Name: "none"}).Err
	}
	return couldNot(ctx, s, fmt.Sprintf("looking at %s, %s", s.resource.GroupResource(), scope), cause)
}

// Expect tells the stream that the API server returned this resourceVersion for a write of one of its objects: the
// watch will report it. CatchUp waits for that.
func (s *Stream) Expect(resourceVersion string) {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	if resourceVersion != "" && !atLeast(s.expected, resourceVersion) { // a dry run has none
		s.expected = resourceVersion
	}
}

// Told returns when the stream has reported everything up to a resourceVersion, when it is unknown whether it has, or
// when the context ends. If it ends, CatchUp still waits for the resourceVersion.
func (s *Stream) Told(ctx context.Context, resourceVersion string) {
	s.Expect(resourceVersion)
	for {
		s.recorder.mu.RLock()
		progress, wake := s.progress, s.wake
		s.recorder.mu.RUnlock()
		if progress != "" && !older(progress, resourceVersion) {
			return
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return
		}
	}
}

// couldNot returns the error of what was given up when the context ended, with its cause if that is known.
func couldNot(ctx context.Context, s *Stream, what string, cause error) error {
	if cause == nil {
		return fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
	return fmt.Errorf("%s: %w (last: %w)", what, context.Cause(ctx), cause)
}

// seen returns what the stream has reported, and what it is expected to report.
func (s *recorded) seen() (progress, expected string) {
	s.recorder.mu.RLock()
	defer s.recorder.mu.RUnlock()
	return s.progress, s.expected
}

// look is what the watch must report: what a list contains, and what was expected before the list.
type look struct {
	scope           Scope
	objects         []identity
	resourceVersion string
	expected        string
}

// await returns when the watch has reported everything that it must report.
func (s *Stream) await(ctx context.Context, l look) error {
	for {
		missing, wake, last := s.behind(l)
		if missing == "" {
			return nil
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return couldNot(ctx, s, fmt.Sprintf("waiting for the watch of %s to reach %s",
				s.resource.GroupResource(), missing), last)
		}
	}
}

// behind returns what the watch must report and has not reported yet; "" if there is nothing. The events of one
// resource are in the order of their resourceVersions, so a stream that has seen one has seen all before it.
func (s *recorded) behind(l look) (missing string, wake <-chan struct{}, last error) {
	s.recorder.mu.RLock()
	defer s.recorder.mu.RUnlock()
	wake, last = s.wake, s.err
	switch {
	case s.progress == "":
		return "anything", wake, last
	case errors.Is(s.err, errOpening):
		return "the first watch", wake, last
	case s.inGap():
		return "the API server again", wake, last
	case older(s.progress, l.expected):
		return fmt.Sprintf("resourceVersion %s of a write", l.expected), wake, last
	}
	listed := map[[2]string]types.UID{}
	for _, object := range l.objects {
		listed[[2]string{object.namespace, object.name}] = object.uid
		known := s.current[object.namespace][object.name]
		told := atLeast(s.progress, object.resourceVersion) ||
			known != nil && known.UID == object.uid && known.ResourceVersion == object.resourceVersion
		if !told {
			return fmt.Sprintf("%s at resourceVersion %s", object.name, object.resourceVersion), wake, last
		}
	}
	for _, r := range s.inScope(l.scope) {
		uid, there := listed[[2]string{r.Namespace, r.Name}]
		if (!there || uid != r.UID) && !older(l.resourceVersion, r.ResourceVersion) {
			return fmt.Sprintf("that %s is gone (by resourceVersion %s)", r.Name, l.resourceVersion), wake, last
		}
	}
	return "", wake, last
}
