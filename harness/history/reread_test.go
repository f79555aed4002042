package history_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/apitest"
)

// Another API server may show the same stored object differently. The recorder records this as a change, although no
// watch reports it. It is not a gap.
func TestTheSameVersionLooksDifferent(t *testing.T) {
	server := apitest.New(t)
	server.Put(pods.Resource, pod("x", "other"))
	server.Put(pods.Resource, pod("x", "web", "n=0"))
	recorder := newRecorder(t, server)
	stream := recorder.Stream(pods)
	await(t, stream, changes(2))
	server.Render(pods.Resource, "x", "web", func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"n": "1"}) })
	recorder.Reread(bounded(t))
	recorder.Reread(bounded(t))
	seen := await(t, stream, changes(3))
	if last := seen[2]; last.Type != history.Modified || !last.Relisted || last.Object.GetLabels()["n"] != "1" ||
		last.Before.GetLabels()["n"] != "0" {
		t.Errorf("%s %v after %v", last.Type, last.Object, last.Before)
	}
	server.Put(pods.Resource, pod("x", "web", "n=2"))
	await(t, stream, changes(4))
	if gaps := stream.Gaps(); len(gaps) != 0 {
		t.Errorf("gaps %+v, want none", gaps)
	}
}

// Reread leaves to the watch the changes that the watch will still report.
func TestWhatTheWatchWillTell(t *testing.T) {
	server, recorder, stream := watched(t, pod("x", "web", "n=0"))
	server.Hold()
	server.Put(pods.Resource, pod("x", "web", "n=1"))
	server.Put(pods.Resource, pod("x", "new"))
	server.Delete(pods.Resource, "x", "new")
	recorder.Reread(bounded(t))
	server.Release()
	seen := await(t, stream, changes(4))
	expect(t, describe(seen), "added x/web 101 relisted\nmodified x/web 102\nadded x/new 103\ndeleted x/new 104")
}

// An API server that has just started may reject the first lists. Then there is no gap.
func TestItIsRereadAgain(t *testing.T) {
	server, recorder, stream := watched(t, pod("x", "web", "n=0"))
	server.Render(pods.Resource, "x", "web", func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"n": "1"}) })
	var rejected atomic.Int64
	server.Reject(func(r apitest.Request) *metav1.Status {
		if r.Verb == "list" && rejected.Add(1) <= 3 {
			return apitest.Failure(503, metav1.StatusReasonServiceUnavailable)
		}
		return nil
	})
	recorder.Reread(bounded(t))
	expect(t, describe(await(t, stream, changes(2))), "added x/web 101 relisted\nmodified x/web 101 relisted")
	if gaps := stream.Gaps(); len(gaps) != 0 {
		t.Errorf("gaps %+v, want none", gaps)
	}
}

// If no list succeeds, the stream has a gap until the next list succeeds.
func TestItCannotBeReread(t *testing.T) {
	server, recorder, stream := watched(t, pod("x", "web", "n=0"))
	server.Reject(func(r apitest.Request) *metav1.Status {
		if r.Verb == "list" {
			return apitest.Failure(500, metav1.StatusReasonInternalError)
		}
		return nil
	})
	server.Render(pods.Resource, "x", "web", func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"n": "1"}) })
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	recorder.Reread(soon)
	server.AwaitWatches(0)
	server.Reject(nil)
	await(t, stream, changes(2))
	if gaps := stream.Gaps(); len(gaps) != 1 || !gaps[0].Relisted {
		t.Errorf("gaps %+v, want one", gaps)
	}
}
