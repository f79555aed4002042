package history_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/apitest"
)

// restart does what a transition does to the watches: the new API server does not know earlier events.
func restart(server *apitest.Server, meanwhile func()) {
	server.Down()
	meanwhile()
	server.Forget()
	server.Up()
}

func TestARestartIsBridged(t *testing.T) {
	server, _, stream := watched(t, pod("x", "changed"), pod("x", "gone"), pod("x", "reborn"), pod("x", "same"))
	restart(server, func() {
		server.Put(pods.Resource, pod("x", "gone", "a=1"))
		server.Delete(pods.Resource, "x", "gone")
		server.Put(nodes.Resource, node("other"))
		server.Delete(pods.Resource, "x", "reborn")
		server.Put(pods.Resource, pod("x", "changed", "a=1"))
		server.Put(pods.Resource, pod("x", "changed", "a=2"))
		server.Put(pods.Resource, pod("x", "short"))
		server.Delete(pods.Resource, "x", "short")
		server.Put(pods.Resource, pod("x", "reborn"))
	})
	seen := await(t, stream, changes(12))
	expect(t, describe(seen[4:]), `
modified x/gone 105
deleted x/gone 106
deleted x/reborn 108
modified x/changed 109
modified x/changed 110
added x/short 111
deleted x/short 112
added x/reborn 113`)
	if gaps := stream.Gaps(); len(gaps) != 1 || gaps[0].Relisted {
		t.Errorf("gaps %+v: want one that was bridged", gaps)
	}
}

// If the storage tells which revisions matter, only those are read, however many others there are.
func TestOnlyRevisionsThatMatterAreRead(t *testing.T) {
	const others = 100
	unable := func(context.Context, schema.GroupResource, int64, int64) ([]int64, error) { return nil, io.EOF }
	for name, test := range map[string]struct {
		writes func(*apitest.Server) history.Writes
		few    bool
	}{
		"it tells":           {func(s *apitest.Server) history.Writes { return s.Writes }, true},
		"it cannot tell":     {func(*apitest.Server) history.Writes { return unable }, false},
		"there is no source": {func(*apitest.Server) history.Writes { return nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := apitest.New(t)
			server.Put(pods.Resource, pod("x", "web"))
			stream := newRecorder(t, server, history.WithWrites(test.writes(server))).Stream(pods)
			await(t, stream, changes(1))
			server.AwaitWatches(1)
			before := server.Requests("list", "Pod")
			restart(server, func() {
				for i := range others {
					server.Put(nodes.Resource, node(fmt.Sprint("n", i)))
				}
				server.Put(pods.Resource, pod("x", "short"))
				server.Put(nodes.Resource, node("last"))
				server.Delete(pods.Resource, "x", "short")
			})
			seen := await(t, stream, changes(3))
			expect(t, describe(seen[1:]), "added x/short 202\ndeleted x/short 204")
			if lists := server.Requests("list", "Pod") - before; test.few != (lists < others) {
				t.Errorf("%d lists of pods around %d other changes", lists, others)
			}
			if gaps := stream.Gaps(); len(gaps) != 1 || gaps[0].Relisted {
				t.Errorf("gaps %+v: want one that was bridged", gaps)
			}
		})
	}
}

// A server that is busy, or does not authorize anybody yet, is asked again.
func TestABusyServerIsBridged(t *testing.T) {
	server, _, stream := watched(t, pod("x", "web"))
	answers := make(chan *metav1.Status, 3)
	answers <- apitest.Failure(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests)
	answers <- apitest.Failure(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
	answers <- apitest.Failure(http.StatusForbidden, metav1.StatusReasonForbidden)
	server.Reject(func(r apitest.Request) *metav1.Status {
		if r.Verb != "list" || r.ResourceVersion == "" {
			return nil
		}
		select {
		case failure := <-answers:
			return failure
		default:
			return nil
		}
	})
	restart(server, func() {
		server.Put(pods.Resource, pod("x", "short"))
		server.Delete(pods.Resource, "x", "short")
	})
	seen := await(t, stream, changes(3))
	expect(t, describe(seen[1:]), "added x/short 102\ndeleted x/short 103")
	if gaps := stream.Gaps(); len(gaps) != 1 || gaps[0].Relisted || len(answers) > 0 {
		t.Errorf("gaps %+v, %d failures left: want one gap that was bridged", gaps, len(answers))
	}
}

func TestWhatCannotBeBridged(t *testing.T) {
	for name, reject := range map[string]func(apitest.Request) *metav1.Status{
		"the storage was compacted": func(r apitest.Request) *metav1.Status {
			if r.Verb == "list" && r.ResourceVersion != "" {
				status := apitest.TooOld()
				return &status
			}
			return nil
		},
		"revisions can't be listed": func(r apitest.Request) *metav1.Status {
			if r.Verb == "list" && r.ResourceVersion != "" {
				return apitest.Failure(http.StatusBadRequest, metav1.StatusReasonBadRequest)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := apitest.New(t)
			server.Put(pods.Resource, pod("x", "web"))
			stream := newRecorder(t, server).Stream(pods)
			await(t, stream, changes(1))
			server.Reject(reject)
			restart(server, func() {
				server.Put(pods.Resource, pod("x", "web", "a=1"))
				server.Put(pods.Resource, pod("x", "web", "a=2"))
			})
			seen := await(t, stream, changes(2))
			expect(t, describe(seen[1:]), "modified x/web 103 relisted")
			if gaps := stream.Gaps(); len(gaps) != 1 || !gaps[0].Relisted {
				t.Errorf("gaps %+v: want one in which changes may have been missed", gaps)
			}
		})
	}
}

// An object that the harness itself wrote for a moment may be deleted during a restart that cannot be bridged. It must
// not be in the way of later bridges.
func TestACanaryDoesNotPreventBridges(t *testing.T) {
	server, _, stream := watched(t, pod("x", "web"))
	server.Put(pods.Resource, pod("x", "canary", history.AsideLabel+"=one"))
	server.Put(pods.Resource, pod("x", "web", "a=0"))
	await(t, stream, changes(2))
	server.Reject(func(r apitest.Request) *metav1.Status {
		if r.Verb == "list" && r.ResourceVersion != "" {
			status := apitest.TooOld()
			return &status
		}
		return nil
	})
	restart(server, func() {
		server.Delete(pods.Resource, "x", "canary")
		server.Put(pods.Resource, pod("x", "web", "a=1"))
	})
	await(t, stream, changes(3))
	server.Reject(nil)
	server.Put(pods.Resource, pod("x", "web", "a=2")) // the watch works, so the second gap is a separate one
	await(t, stream, changes(4))
	restart(server, func() {
		server.Put(pods.Resource, pod("x", "short"))
		server.Delete(pods.Resource, "x", "short")
	})
	seen := await(t, stream, func(view history.View, all []history.Change) bool {
		return view.Synced && len(all) > 0 && all[len(all)-1].ResourceVersion == "108"
	})
	expect(t, describe(seen[2:]), "modified x/web 105 relisted\nmodified x/web 106\nadded x/short 107\ndeleted x/short 108")
	if gaps := stream.Gaps(); len(gaps) != 2 || gaps[1].Relisted {
		t.Errorf("gaps %+v: want the second to be bridged", gaps)
	}
}

// Each change is reported once and in order, whatever happens around restarts of the API server, as long as the
// storage keeps its revisions.
func TestNothingIsMissedByRestarts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		server, recorder := drawn(t, rt)
		defer server.Down()
		defer recorder.Close()
		stream := recorder.Stream(pods)
		if err := stream.CatchUp(bounded(t), history.Scope{}); err != nil {
			rt.Fatal(err)
		}
		want := 0
		namespaces, names := rapid.SampledFrom([]string{"x", "y"}), rapid.SampledFrom([]string{"a", "b", "c"})
		change := map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				server.Put(pods.Resource, pod(namespaces.Draw(rt, "namespace"), names.Draw(rt, "name")))
				want++
			},
			"delete": func(rt *rapid.T) {
				if server.Delete(pods.Resource, namespaces.Draw(rt, "namespace"), names.Draw(rt, "name")) != nil {
					want++
				}
			},
			"other": func(*rapid.T) { server.Put(nodes.Resource, node("n")) },
			"down":  func(*rapid.T) { server.Down() },
			"up":    func(*rapid.T) { server.Forget(); server.Up() },
		}
		rt.Repeat(change)
		server.Up()
		server.Put(pods.Resource, pod("x", "last"))
		want++
		look(rt, t, server, stream, history.Scope{})
		all, _, _ := stream.Since(0, history.Scope{})
		last := "0"
		for _, c := range all {
			if c.Relisted || len(c.ResourceVersion) < len(last) || c.ResourceVersion <= last {
				rt.Fatalf("not in order, or found by a list:\n%s", describe(all))
			}
			last = c.ResourceVersion
		}
		if len(all) != want {
			rt.Fatalf("%d changes, want %d:\n%s", len(all), want, describe(all))
		}
	})
}
