package historytest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/watch"
)

// watch tells the events after the request's resourceVersion until the watch is ended. A resourceVersion of the future
// is waited for, as etcd does.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, parsed request) {
	from, _ := strconv.Atoi(parsed.ResourceVersion)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	send := func(change watch.EventType, object any) {
		_ = json.NewEncoder(w).Encode(map[string]any{"type": change, "object": object})
		_ = http.NewResponseController(w).Flush()
	}
	stop := context.AfterFunc(r.Context(), func() { s.do(func() {}) })
	defer stop()

	s.mu.Lock()
	defer s.mu.Unlock()
	if from < max(s.compacted, s.cached) {
		send(watch.Error, TooOld())
		return
	}
	s.watching++
	s.changed.Broadcast()
	defer func() {
		s.watching--
		s.changed.Broadcast()
	}()
	epoch, marks, tells := s.epoch, s.marks, s.tells
	for {
		switch {
		case s.epoch != epoch && s.abrupt:
			panic(http.ErrAbortHandler)
		case s.epoch != epoch, r.Context().Err() != nil:
			return
		case s.tells != tells:
			send(watch.Error, s.told)
			return
		}
		if !s.held {
			from = s.tellFrom(from, parsed, send)
			if s.marks != marks && parsed.bookmarks {
				marks = s.marks
				send(watch.Bookmark, map[string]any{
					"apiVersion": "v1", "kind": "Bookmark",
					"metadata": map[string]any{"resourceVersion": strconv.Itoa(s.revision)},
				})
			}
		}
		s.changed.Wait()
	}
}

func (s *Server) tellFrom(from int, parsed request, send func(watch.EventType, any)) int {
	first, _ := slices.BinarySearchFunc(s.events, from+1, func(e event, revision int) int { return e.revision - revision })
	for _, event := range s.events[first:] {
		if event.key.resource == parsed.Resource && parsed.wants(event.object) {
			send(event.change, event.object.Object)
		}
		from = event.revision
	}
	return from
}
