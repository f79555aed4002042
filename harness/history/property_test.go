package history_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// drawn returns a server and a recorder that lists in pages of a drawn size.
func drawn(t *testing.T, rt *rapid.T) (*apitest.Server, *history.Recorder) {
	server := apitest.New(t)
	options := []history.Option{history.WithPageSize(rapid.Int64Range(1, 4).Draw(rt, "page size"))}
	if rapid.Bool().Draw(rt, "the storage tells its writes") {
		options = append(options, history.WithWrites(server.Writes))
	}
	recorder, err := history.New(server.Config(), options...)
	if err != nil {
		rt.Fatal(err)
	}
	return server, recorder
}

// Whatever happens to the objects and the connections, the recorder ends with the same objects as the server, and
// reports the states of each object in order. After CatchUp, the view is not older than the server was before.
func TestRecorderAgreesWithTheServer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		server, recorder := drawn(t, rt)
		defer server.Down()
		defer recorder.Close()
		stream := recorder.Stream(pods)
		namespaces, names := rapid.SampledFrom([]string{"x", "y"}), rapid.SampledFrom([]string{"a", "b", "c"})
		apps := rapid.SampledFrom([]string{"app=web", "app=db"})
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				server.Put(pods.Resource, pod(namespaces.Draw(rt, "namespace"), names.Draw(rt, "name"), apps.Draw(rt, "label")))
			},
			"delete": func(rt *rapid.T) {
				server.Delete(pods.Resource, namespaces.Draw(rt, "namespace"), names.Draw(rt, "name"))
			},
			"other":       func(*rapid.T) { server.Put(nodes.Resource, node("n")) },
			"end":         func(*rapid.T) { server.EndWatches() },
			"break":       func(*rapid.T) { server.BreakWatches() },
			"lose":        func(*rapid.T) { server.Compact(); server.BreakWatches() },
			"error":       func(*rapid.T) { server.Tell(apitest.TooOld()) },
			"bookmark":    func(*rapid.T) { server.Bookmark() },
			"hold":        func(*rapid.T) { server.Hold() },
			"release":     func(*rapid.T) { server.Release() },
			"down and up": func(*rapid.T) { server.Down(); server.Up() },
			"look closely": func(rt *rapid.T) {
				look(rt, t, server, stream, history.Scope{Namespace: namespaces.Draw(rt, "namespace")})
			},
			"look at labels": func(rt *rapid.T) {
				look(rt, t, server, stream, history.Scope{Selector: withLabel(t, apps.Draw(rt, "label"))})
			},
		})
		look(rt, t, server, stream, history.Scope{})
		all, _, _ := stream.Since(0, history.Scope{})
		if got, want := replay(rt, all), versions(stream.View(history.Scope{}).Objects); got != want {
			rt.Fatalf("the changes amount to %s, the view has %s", got, want)
		}
	})
}

func look(rt *rapid.T, t *testing.T, server *apitest.Server, stream *history.Stream, scope history.Scope) {
	server.Release()
	var stored []*unstructured.Unstructured
	for _, object := range server.Objects(pods.Resource) {
		if scope.Contains(object) {
			stored = append(stored, object)
		}
	}
	if err := stream.CatchUp(bounded(t), scope); err != nil {
		rt.Fatal(err)
	}
	if got, want := versions(stream.View(scope).Objects), versions(stored); got != want {
		rt.Fatalf("the view has %s, the server %s", got, want)
	}
}

func versions(objects []*unstructured.Unstructured) string {
	text := ""
	for _, object := range objects {
		text += fmt.Sprintf("%s/%s %s %s\n", object.GetNamespace(), object.GetName(), object.GetUID(),
			object.GetResourceVersion())
	}
	return text
}

// replay applies changes one after the other, checks that this order is possible, and returns the result.
func replay(rt *rapid.T, changes []history.Change) string {
	current := map[string]history.Change{}
	newest := map[types.UID]int{}
	var seq int64
	for _, change := range changes {
		key := change.Namespace + "/" + change.Name
		before, there := current[key]
		version, err := strconv.Atoi(change.ResourceVersion)
		switch {
		case err != nil:
			rt.Fatal(err)
		case change.Seq <= seq:
			rt.Fatalf("number %d after %d", change.Seq, seq)
		case version < newest[change.UID]:
			rt.Fatalf("%s went from %d back to %d", key, newest[change.UID], version)
		case there == (change.Type == history.Added), there && before.UID != change.UID:
			rt.Fatalf("%s was %s (%s) after %+v", key, change.Type, change.UID, before)
		}
		seq, newest[change.UID], current[key] = change.Seq, version, change
		if change.Type == history.Deleted {
			delete(current, key)
		}
	}
	var objects []*unstructured.Unstructured
	for _, namespace := range []string{"x", "y"} {
		for _, name := range []string{"a", "b", "c"} {
			if change, ok := current[namespace+"/"+name]; ok {
				objects = append(objects, change.Object)
			}
		}
	}
	return versions(objects)
}

func TestCatchUpUnderWrites(t *testing.T) {
	server := apitest.New(t)
	stream := newRecorder(t, server).Stream(pods)
	done := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := range 5000 {
			select {
			case <-done:
				return
			default:
			}
			name := fmt.Sprintf("p%d", i%7)
			if i%5 == 4 {
				server.Delete(pods.Resource, "x", name)
			} else {
				server.Put(pods.Resource, pod("x", name))
			}
			if i%50 == 49 {
				server.BreakWatches()
			}
			// Wait for a watch that can be broken.
			server.AwaitWatches(1)
		}
	})
	defer writer.Wait()
	defer close(done)
	for range 20 {
		stored := server.Objects(pods.Resource)
		golden.Must(t, stream.CatchUp(bounded(t), history.Scope{Namespace: "x"}))
		seen := map[types.UID]int{}
		for _, object := range stream.View(history.Scope{}).Objects {
			seen[object.GetUID()], _ = strconv.Atoi(object.GetResourceVersion())
		}
		gone := map[types.UID]bool{}
		for _, change := range stream.ChangesBetween(0, 1<<62, history.Scope{}) {
			gone[change.UID] = gone[change.UID] || change.Type == history.Deleted
		}
		for _, object := range stored {
			version, _ := strconv.Atoi(object.GetResourceVersion())
			if seen[object.GetUID()] < version && !gone[object.GetUID()] {
				t.Fatalf("%s is at %d in the view, was at %d before", object.GetName(), seen[object.GetUID()], version)
			}
		}
	}
}
