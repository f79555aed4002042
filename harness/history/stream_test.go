package history_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestChangesComeInOrder(t *testing.T) {
	server := apitest.New(t)
	server.Put(pods.Resource, pod("x", "web"))
	stream := newRecorder(t, server).Stream(pods)
	await(t, stream, changes(1))
	server.Put(pods.Resource, pod("x", "web", "app=web"))
	server.Put(pods.Resource, pod("y", "db"))
	server.Delete(pods.Resource, "x", "web")
	seen := await(t, stream, changes(4))
	expect(t, describe(seen), `
added x/web 101 relisted
modified x/web 102
added y/db 103
deleted x/web 104`)
	for i, change := range seen {
		if change.Seq != int64(i+1) {
			t.Errorf("change %d has number %d", i, change.Seq)
		}
		if change.Object == nil || len(change.Object.GetManagedFields()) != 0 {
			t.Errorf("change %d: want the object without managedFields, got %v", i, change.Object)
		}
		if change.At.IsZero() {
			t.Errorf("change %d has no time", i)
		}
	}
}

func TestListIsPaged(t *testing.T) {
	server := apitest.New(t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		server.Put(nodes.Resource, node(name))
	}
	stream := newRecorder(t, server, history.WithPageSize(2)).Stream(nodes)
	await(t, stream, changes(5))
	if n := server.Requests("list", ""); n != 3 {
		t.Errorf("5 objects by 2 took %d requests, want 3", n)
	}
}

func TestOneWatchIsShared(t *testing.T) {
	server := apitest.New(t)
	recorder := newRecorder(t, server)
	stream := recorder.Stream(pods)
	if recorder.Stream(pods) != stream {
		t.Error("a second use of a resource made a second stream")
	}
	server.AwaitWatches(1)
	recorder.Stream(nodes)
	server.AwaitWatches(2)
	server.Put(nodes.Resource, node("a"))
	await(t, recorder.Stream(nodes), changes(1))
	server.Put(pods.Resource, pod("x", "web"))
	if seen := await(t, stream, changes(1)); seen[0].Seq != 2 {
		t.Errorf("the second change of the recorder has number %d, want 2", seen[0].Seq)
	}
	if n := server.Requests("watch", ""); n != 2 {
		t.Errorf("2 resources took %d watches", n)
	}
}

func TestWatchIsResumed(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(*apitest.Server)
	}{
		{"ended", (*apitest.Server).EndWatches},
		{"broken", (*apitest.Server).BreakWatches},
		{"server down and up", func(s *apitest.Server) { s.Down(); s.Up() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := apitest.New(t)
			server.Put(pods.Resource, pod("x", "web"))
			stream := newRecorder(t, server).Stream(pods)
			await(t, stream, changes(1))
			tt.end(server)
			server.Put(pods.Resource, pod("x", "web", "a=1"))
			server.Put(pods.Resource, pod("x", "web", "a=2"))
			seen := await(t, stream, changes(3))
			expect(t, describe(seen), `
added x/web 101 relisted
modified x/web 102
modified x/web 103`)
			if n := server.Requests("list", ""); n != 1 {
				t.Errorf("%d lists, want 1: the watch could be resumed", n)
			}
			for _, gap := range stream.Gaps() {
				if gap.Relisted || gap.Err == nil || gap.To.Before(gap.From) {
					t.Errorf("gap %+v: want one that was bridged, with its reason", gap)
				}
			}
			if len(stream.Gaps()) == 0 {
				t.Error("the break left no gap")
			}
		})
	}
}

// An API server may open a watch and say much later that it cannot be resumed. Until then nothing was reported, so the
// gap before it lasts.
func TestAWatchIsRefusedLate(t *testing.T) {
	server := apitest.New(t)
	server.Put(pods.Resource, pod("x", "web"))
	clock := clocktesting.NewFakeClock(time.Now())
	stream := newRecorder(t, server, history.WithClock(clock)).Stream(pods)
	await(t, stream, changes(1))
	server.AwaitWatches(1)
	server.Reject(func(r apitest.Request) *metav1.Status {
		if r.Verb == "list" && r.ResourceVersion != "" {
			status := apitest.TooOld()
			return &status
		}
		return nil
	})
	server.Hold()
	broken := clock.Now()
	server.BreakWatches()
	server.AwaitRequests("watch", 2)
	gaps := func(n int) func(history.View, []history.Change) bool {
		return func(view history.View, _ []history.Change) bool { return view.Synced && len(stream.Gaps()) == n }
	}
	await(t, stream, gaps(1))
	clock.Step(time.Minute)
	server.Put(pods.Resource, pod("x", "web", "a=1"))
	server.Put(pods.Resource, pod("x", "web", "a=2"))
	server.Tell(apitest.TooOld())
	server.Release()
	await(t, stream, changes(2))
	switch all := stream.Gaps(); {
	case len(all) != 1:
		t.Errorf("%d gaps: %+v", len(all), all)
	case !all[0].Relisted, !all[0].From.Equal(broken), all[0].To.Before(clock.Now()):
		t.Errorf("%+v: want one from the break on in which changes may have been missed", all[0])
	}
}

func TestLostEventsAreRelisted(t *testing.T) {
	server, _, stream := watched(t, pod("x", "changed"), pod("x", "gone"), pod("x", "reborn"), pod("x", "same"))
	server.Down()
	server.Delete(pods.Resource, "x", "gone")
	server.Delete(pods.Resource, "x", "reborn")
	server.Put(pods.Resource, pod("x", "changed", "a=1"))
	server.Put(pods.Resource, pod("x", "new"))
	server.Put(pods.Resource, pod("x", "reborn"))
	server.Compact()
	server.Up()
	seen := await(t, stream, changes(9))
	expect(t, describe(seen[4:]), `
deleted x/gone 102 relisted more
deleted x/reborn 103 relisted more
modified x/changed 107 relisted more
added x/new 108 relisted more
added x/reborn 109 relisted`)
	gaps := stream.Gaps()
	if len(gaps) != 1 || !gaps[0].Relisted {
		t.Errorf("gaps %+v: want one, whose events are lost", gaps)
	}
	// More refers to the returned changes, not to those that the scope leaves out.
	only := stream.ChangesBetween(4, 9, history.Scope{Name: "reborn"})
	expect(t, describe(only), "deleted x/reborn 103 relisted more\nadded x/reborn 109 relisted")
	if got := describe(stream.ChangesBetween(5, 6, history.Scope{})); !strings.HasPrefix(got, "deleted x/reborn") ||
		strings.Count(got, "\n") != 1 {
		t.Errorf("between 5 and 6: %s, want number 6 alone", got)
	}
}

func TestErrorEvents(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status metav1.Status
		lists  int
	}{
		{"too old", apitest.TooOld(), 2},
		{"too large", apitest.TooLarge(), 2},
		{"internal error", *apitest.Failure(http.StatusInternalServerError, metav1.StatusReasonInternalError), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := apitest.New(t)
			stream := newRecorder(t, server).Stream(pods)
			server.AwaitWatches(1)
			server.Tell(tt.status)
			server.AwaitRequests("watch", 2)
			server.Put(pods.Resource, pod("x", "web"))
			await(t, stream, changes(1))
			if n := server.Requests("list", ""); n != tt.lists {
				t.Errorf("%d lists, want %d", n, tt.lists)
			}
		})
	}
}

func TestUnknownWhileRejected(t *testing.T) {
	for _, tt := range []struct {
		code   int32
		reason metav1.StatusReason
	}{
		{http.StatusNotFound, metav1.StatusReasonNotFound},
		{http.StatusForbidden, metav1.StatusReasonForbidden},
		{http.StatusUnauthorized, metav1.StatusReasonUnauthorized},
		{http.StatusInternalServerError, metav1.StatusReasonInternalError},
		{http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable},
	} {
		t.Run(string(tt.reason), func(t *testing.T) {
			server := apitest.New(t)
			server.Put(pods.Resource, pod("x", "web"))
			stream := newRecorder(t, server).Stream(pods)
			await(t, stream, changes(1))
			server.AwaitWatches(1)
			server.Reject(func(apitest.Request) *metav1.Status { return apitest.Failure(tt.code, tt.reason) })
			server.EndWatches()
			await(t, stream, func(view history.View, _ []history.Change) bool {
				return !view.Synced && apierrors.ReasonForError(view.Err) == tt.reason
			})
			view := stream.View(history.Scope{})
			if len(view.Objects) != 1 || view.UnknownSince.IsZero() {
				t.Errorf("while unknown there are %d objects since %v, want the one last seen and a time", len(view.Objects),
					view.UnknownSince)
			}
			if gaps := stream.Gaps(); len(gaps) == 0 || !gaps[len(gaps)-1].To.IsZero() {
				t.Errorf("gaps %+v: want one that lasts", gaps)
			}
			server.Reject(nil)
			server.Put(pods.Resource, pod("x", "db"))
			await(t, stream, changes(2))
		})
	}
}

func TestUnknownWhileNeverReached(t *testing.T) {
	server := apitest.New(t)
	server.Down()
	recorder := newRecorder(t, server)
	stream := recorder.Stream(pods)
	await(t, stream, func(view history.View, _ []history.Change) bool {
		return !view.Synced && view.Err != nil && strings.Contains(view.Err.Error(), "connection refused")
	})
	if gaps := stream.Gaps(); len(gaps) != 0 {
		t.Errorf("gaps %+v before the first list", gaps)
	}
	recorder.Close()
	if view := stream.View(history.Scope{}); view.Synced || view.Err == nil {
		t.Errorf("a closed stream is synced: %v, error: %v", view.Synced, view.Err)
	}
}

func TestBookmarksAreResumedFrom(t *testing.T) {
	server := apitest.New(t)
	server.Put(pods.Resource, pod("x", "web"))
	stream := newRecorder(t, server).Stream(pods)
	server.AwaitWatches(1)
	other := server.Put(nodes.Resource, node("a")) // the pods' watch learns of this revision only from the bookmark
	server.Bookmark()
	stream.Told(bounded(t), other.GetResourceVersion())
	server.Compact()
	server.EndWatches()
	server.AwaitRequests("watch", 2)
	server.Put(pods.Resource, pod("x", "db"))
	await(t, stream, changes(2))
	if n := server.Requests("list", ""); n != 1 {
		t.Errorf("%d lists, want 1: the bookmark's resourceVersion could be resumed from", n)
	}
}

func TestRestoredStorage(t *testing.T) {
	server := apitest.New(t)
	server.Put(pods.Resource, pod("x", "old"))
	restore := server.Snapshot()
	server.Put(pods.Resource, pod("x", "new"))
	recorder := newRecorder(t, server)
	stream := recorder.Stream(pods)
	await(t, stream, changes(2))
	server.AwaitWatches(1)
	golden.Must(t, recorder.Pause(bounded(t)))
	server.AwaitWatches(0)
	restore()
	recorder.Resume()
	seen := await(t, stream, changes(3))
	expect(t, describe(seen[2:]), "deleted x/new 102 relisted")
	server.Put(pods.Resource, pod("x", "next"))
	await(t, stream, changes(4))
}
