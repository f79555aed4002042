package history_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestCatchUpWaitsForTheWatch(t *testing.T) {
	web := history.Scope{Namespace: "x", Selector: withLabel(t, "app=web")}
	for _, tt := range []struct {
		name   string
		change func(*apitest.Server)
		want   string
	}{
		{"created", func(s *apitest.Server) { s.Put(pods.Resource, pod("x", "new", "app=web")) }, "new 102, old 101"},
		{"changed", func(s *apitest.Server) { s.Put(pods.Resource, pod("x", "old", "app=web", "a=b")) }, "old 102"},
		{"deleted", func(s *apitest.Server) { s.Delete(pods.Resource, "x", "old") }, ""},
		{"taken out of the scope", func(s *apitest.Server) { s.Put(pods.Resource, pod("x", "old", "app=db")) }, ""},
		{"created again", func(s *apitest.Server) {
			s.Delete(pods.Resource, "x", "old")
			s.Put(pods.Resource, pod("x", "old", "app=web"))
		}, "old 103"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := apitest.New(t)
			server.Put(pods.Resource, pod("x", "old", "app=web"))
			stream := newRecorder(t, server).Stream(pods)
			await(t, stream, changes(1))
			server.AwaitWatches(1)
			server.Hold()
			tt.change(server)
			// The watch reports nothing until CatchUp has its list. If CatchUp did not wait, the view would be old.
			lists := server.Requests("list", "")
			go func() {
				server.AwaitRequests("list", lists+1)
				server.Release()
			}()
			golden.Must(t, stream.CatchUp(bounded(t), web))
			expect(t, summary(stream.View(web)), tt.want)
		})
	}
}

func summary(view history.View) string {
	var parts []string
	for _, object := range view.Objects {
		parts = append(parts, object.GetName()+" "+object.GetResourceVersion())
	}
	return strings.Join(parts, ", ")
}

// What came and went while the watch was not connected is in no list, and is known nevertheless.
func TestCatchUpWaitsForTheConnection(t *testing.T) {
	server, _, stream := watched(t, pod("x", "web"))
	server.Reject(func(r apitest.Request) *metav1.Status {
		if r.Verb != "watch" {
			return nil
		}
		return apitest.Failure(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
	})
	server.BreakWatches()
	await(t, stream, func(view history.View, _ []history.Change) bool { return !view.Synced })
	server.Put(pods.Resource, pod("x", "short"))
	server.Delete(pods.Resource, "x", "short")
	lists := server.Requests("list", "")
	go func() {
		server.AwaitRequests("list", lists+1)
		server.Reject(nil)
	}()
	golden.Must(t, stream.CatchUp(bounded(t), history.Scope{}))
	seen, _, _ := stream.Since(0, history.Scope{})
	expect(t, describe(seen[1:]), "added x/short 102\ndeleted x/short 103")
}

// answered calls a function after each answer to a list was read.
type answered struct {
	http.RoundTripper
	then func()
}

func (a answered) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := a.RoundTripper.RoundTrip(r)
	if err == nil && !r.URL.Query().Has("watch") {
		response.Body = closing{response.Body, a.then}
	}
	return response, err
}

type closing struct {
	io.ReadCloser
	then func()
}

func (c closing) Close() error {
	defer c.then()
	return c.ReadCloser.Close()
}

// An object that came and went while its events were under way is in no list. It is known if it was expected.
func TestCatchUpWaitsForAnExpectedWrite(t *testing.T) {
	server := apitest.New(t)
	config := server.Config()
	over, cancel := context.WithCancel(t.Context())
	var held atomic.Bool
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return answered{next, func() {
			if held.Load() {
				cancel()
			}
		}}
	})
	recorder, err := history.New(config)
	golden.Must(t, err)
	t.Cleanup(recorder.Close)
	stream := recorder.Stream(pods)
	server.AwaitWatches(1)
	server.Hold()
	held.Store(true)
	made := server.Put(pods.Resource, pod("x", "short"))
	server.Delete(pods.Resource, "x", "short")
	ended, end := context.WithCancel(t.Context())
	end()
	stream.Told(ended, made.GetResourceVersion())
	stream.Expect("") // a dry run
	if err := stream.CatchUp(over, history.Scope{}); err == nil ||
		!strings.Contains(err.Error(), "resourceVersion 101 of a write") {
		t.Errorf("caught up with %v although the watch has reported nothing", err)
	}
	server.Release()
	golden.Must(t, stream.CatchUp(bounded(t), history.Scope{}))
	seen, _, _ := stream.Since(0, history.Scope{})
	expect(t, describe(seen), "added x/short 101\ndeleted x/short 102")
}

// unopened does not answer watches before a channel is closed.
type unopened struct {
	http.RoundTripper
	until <-chan struct{}
}

func (u unopened) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Has("watch") {
		select {
		case <-u.until:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return u.RoundTripper.RoundTrip(r)
}

// What came and went before the first watch is open is in no list.
func TestCatchUpWaitsForTheFirstWatch(t *testing.T) {
	server := apitest.New(t)
	config, open := server.Config(), make(chan struct{})
	over, cancel := context.WithCancel(t.Context())
	var lists atomic.Int32
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return unopened{answered{next, func() {
			if lists.Add(1) == 2 { // the first one is the stream's own
				cancel()
			}
		}}, open}
	})
	recorder, err := history.New(config)
	golden.Must(t, err)
	t.Cleanup(recorder.Close)
	stream := recorder.Stream(pods)
	await(t, stream, func(view history.View, _ []history.Change) bool {
		return view.Err != nil && strings.Contains(view.Err.Error(), "is being opened")
	})
	if err := stream.CatchUp(over, history.Scope{}); err == nil || !strings.Contains(err.Error(), "the first watch") {
		t.Errorf("caught up with %v although there was no watch yet", err)
	}
	close(open)
	golden.Must(t, stream.CatchUp(bounded(t), history.Scope{}))
}

// A write that a restored storage does not have is not awaited, even when the storage has its resourceVersion again.
func TestCatchUpDoesNotWaitForALostWrite(t *testing.T) {
	for name, pause := range map[string]bool{"nobody knows of the restore": false, "the history was paused": true} {
		t.Run(name, func(t *testing.T) {
			server, recorder, stream := watched(t, pod("x", "web"))
			restore := server.Snapshot()
			server.Put(pods.Resource, pod("x", "new"))
			await(t, stream, changes(2))
			server.Hold()
			stream.Expect(server.Put(pods.Resource, pod("x", "lost")).GetResourceVersion())
			if pause {
				golden.Must(t, recorder.Pause(bounded(t)))
			}
			restore()
			recorder.Resume()
			for _, name := range []string{"a", "b"} { // with the resourceVersions of both pods
				golden.Must(t, stream.CatchUp(bounded(t), history.Scope{}))
				server.Put(nodes.Resource, node(name))
			}
			golden.Must(t, stream.CatchUp(bounded(t), history.Scope{}))
			expect(t, summary(stream.View(history.Scope{})), "web 101")
		})
	}
}

func TestCatchUpDoesNotWaitForAResourceVersionThatTheStorageDoesNotHave(t *testing.T) {
	_, _, stream := watched(t, pod("x", "web"))
	stream.Expect("999999")
	golden.Must(t, stream.CatchUp(bounded(t), history.Scope{}))
}

func TestCatchUpDoesNotPassWhileTheWatchIsHeld(t *testing.T) {
	server := apitest.New(t)
	stream := newRecorder(t, server).Stream(pods)
	server.AwaitWatches(1)
	server.Hold()
	server.Put(pods.Resource, pod("x", "web"))
	ctx, cancel := context.WithCancelCause(t.Context())
	errTimeUp := errors.New("the time is up")
	go func() {
		server.AwaitRequests("list", 2)
		cancel(errTimeUp)
	}()
	err := stream.CatchUp(ctx, history.Scope{})
	if !errors.Is(err, errTimeUp) || !strings.Contains(err.Error(), "pods") {
		t.Errorf("error %v, want one that says what was looked at and why it ended", err)
	}
}

func TestCatchUpRetries(t *testing.T) {
	server := apitest.New(t)
	server.Put(nodes.Resource, node("a"))
	stream := newRecorder(t, server).Stream(nodes)
	await(t, stream, changes(1))
	var rejected atomic.Int32
	server.Reject(func(r apitest.Request) *metav1.Status {
		if r.Verb == "list" && rejected.Add(1) <= 3 {
			return apitest.Failure(http.StatusInternalServerError, metav1.StatusReasonInternalError)
		}
		return nil
	})
	golden.Must(t, stream.CatchUp(bounded(t), history.Scope{Name: "a"}))
	if rejected.Load() != 4 {
		t.Errorf("%d lists, want 4", rejected.Load())
	}
}

func TestCatchUpSaysWhyItCouldNotLook(t *testing.T) {
	server := apitest.New(t)
	server.Reject(func(apitest.Request) *metav1.Status {
		return apitest.Failure(http.StatusNotFound, metav1.StatusReasonNotFound)
	})
	stream := newRecorder(t, server).Stream(pods)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		server.AwaitRequests("list", 6)
		cancel()
	}()
	err := stream.CatchUp(ctx, history.Scope{Namespace: "x"})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "rejected by the test: NotFound") {
		t.Errorf("error %v, want the API server's own words", err)
	}
}

func TestCatchUpNoticesARestoredStorage(t *testing.T) {
	server := apitest.New(t)
	server.Put(pods.Resource, pod("x", "old"))
	restore := server.Snapshot()
	server.Put(pods.Resource, pod("x", "new"))
	stream := newRecorder(t, server).Stream(pods)
	await(t, stream, changes(2))
	server.AwaitWatches(1)
	restore() // The watch stays open, but would not report the next revisions.
	golden.Must(t, stream.CatchUp(bounded(t), history.Scope{}))
	expect(t, summary(stream.View(history.Scope{})), "old 101")
}
