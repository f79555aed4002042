package apitest

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

// watches are the running watches, and what a test does to them.
type watches struct {
	*storage

	// epoch ends the watches that began before it. abrupt breaks them instead.
	epoch  int
	abrupt bool
	// held pauses all watches.
	held bool
	// marks counts the requested bookmarks.
	marks int
	// told is an ERROR event that every watch gets once.
	told     *metav1.Status
	tells    int
	watching int
}

// EndWatches ends all watches, as the API server does after their timeout.
func (w *watches) EndWatches() { w.endWatches(false) }

// BreakWatches breaks the connections of all watches.
func (w *watches) BreakWatches() { w.endWatches(true) }

func (w *watches) endWatches(abrupt bool) {
	w.do(func() {
		w.epoch++
		w.abrupt = abrupt
	})
}

// Hold pauses all watches until Release.
func (w *watches) Hold() { w.do(func() { w.held = true }) }

// Release resumes the watches, which send the events since Hold.
func (w *watches) Release() { w.do(func() { w.held = false }) }

// Bookmark makes every watch send a bookmark.
func (w *watches) Bookmark() { w.do(func() { w.marks++ }) }

// Tell sends an ERROR event to every watch, and ends it.
func (w *watches) Tell(status metav1.Status) {
	w.do(func() {
		w.told = &status
		w.tells++
	})
}

// AwaitWatches returns when exactly n watches are running.
func (w *watches) AwaitWatches(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.watching != n {
		w.changed.Wait()
	}
}

// watch sends the events after the request's resourceVersion until the watch ends. Without a resourceVersion, it
// first sends the existing objects. It waits for a future resourceVersion, as etcd does.
func (w *watches) watch(out http.ResponseWriter, r *http.Request, c *call) {
	from, _ := strconv.Atoi(c.ResourceVersion)
	send := func(change watch.EventType, object any) {
		_ = json.NewEncoder(out).Encode(map[string]any{"type": change, "object": object})
		_ = http.NewResponseController(out).Flush()
	}
	stop := context.AfterFunc(r.Context(), func() { w.do(func() {}) })
	defer stop()

	// What a test does to the watches affects each one whose client has an answer.
	w.mu.Lock()
	defer w.mu.Unlock()
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(out).Flush()
	switch {
	case from == 0:
		for _, object := range sorted(maps.Clone(w.objects), c.resource, c.wants) {
			send(watch.Added, object.Object)
		}
		from = w.revision
	case from < max(w.compacted, w.cached):
		send(watch.Error, TooOld())
		return
	}
	w.watching++
	w.changed.Broadcast()
	defer func() {
		w.watching--
		w.changed.Broadcast()
	}()
	epoch, marks, tells := w.epoch, w.marks, w.tells
	for {
		switch {
		case w.epoch != epoch && w.abrupt:
			panic(http.ErrAbortHandler)
		case w.epoch != epoch, r.Context().Err() != nil:
			return
		case w.tells != tells:
			send(watch.Error, w.told)
			return
		}
		if !w.held {
			from = w.tellFrom(from, c, send)
			if w.marks != marks && c.get("allowWatchBookmarks") == "true" {
				marks = w.marks
				send(watch.Bookmark, map[string]any{
					"apiVersion": "v1", "kind": "Bookmark",
					"metadata": map[string]any{"resourceVersion": strconv.Itoa(w.revision)},
				})
			}
		}
		w.changed.Wait()
	}
}

func (w *watches) tellFrom(from int, c *call, send func(watch.EventType, any)) int {
	first, _ := slices.BinarySearchFunc(w.events, from+1, func(e event, revision int) int { return e.revision - revision })
	for _, event := range w.events[first:] {
		if event.key.resource == c.resource && c.wants(event.object) {
			send(event.change, event.object.Object)
		}
		from = event.revision
	}
	return from
}

// wants reports whether a request selects an object.
func (c *call) wants(object *unstructured.Unstructured) bool {
	return (c.Namespace == "" || c.Namespace == object.GetNamespace()) &&
		(c.field == "" || c.field == object.GetName()) && c.selector.Matches(labelsOf(object))
}
