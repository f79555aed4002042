package history_test

import (
	"fmt"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/apitest"
)

func TestViewOfScope(t *testing.T) {
	server := apitest.New(t)
	server.Put(pods.Resource, pod("y", "a", "app=web"))
	server.Put(pods.Resource, pod("x", "b", "app=web"))
	server.Put(pods.Resource, pod("x", "a", "app=db"))
	server.Put(pods.Resource, pod("x", "c", history.AsideLabel+"=one"))
	stream := newRecorder(t, server).Stream(pods)
	await(t, stream, changes(3))
	for _, tt := range []struct {
		name  string
		scope history.Scope
		want  string
	}{
		{"everything, sorted", history.Scope{}, "[x/a x/b y/a]"},
		{"a namespace", history.Scope{Namespace: "x"}, "[x/a x/b]"},
		{"a name in all namespaces", history.Scope{Name: "a"}, "[x/a y/a]"},
		{"one object", history.Scope{Namespace: "x", Name: "a"}, "[x/a]"},
		{"labels", history.Scope{Selector: withLabel(t, "app=web")}, "[x/b y/a]"},
		{"labels in a namespace", history.Scope{Namespace: "y", Selector: withLabel(t, "app=web")}, "[y/a]"},
		{"nothing", history.Scope{Namespace: "z"}, "[]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			names := []string{}
			for _, object := range stream.View(tt.scope).Objects {
				if !tt.scope.Contains(object) {
					t.Errorf("%s/%s is not in the scope", object.GetNamespace(), object.GetName())
				}
				names = append(names, object.GetNamespace()+"/"+object.GetName())
			}
			expect(t, fmt.Sprint(names), tt.want)
		})
	}
}

// Objects that the harness writes for a moment to observe something are in no scope: neither the objects nor their
// changes.
func TestNoScopeHasWhatIsAside(t *testing.T) {
	server := apitest.New(t)
	server.Put(pods.Resource, pod("x", "a"))
	stream := newRecorder(t, server).Stream(pods)
	await(t, stream, changes(1))
	seq := stream.View(history.Scope{}).Seq
	server.Put(pods.Resource, pod("x", "b", history.AsideLabel+"=b"))
	server.Delete(pods.Resource, "x", "b")
	server.Put(pods.Resource, pod("x", "c"))
	await(t, stream, changes(2))
	now := stream.View(history.Scope{}).Seq
	if got := stream.ChangesBetween(seq, now, history.Scope{}); len(got) != 1 || got[0].Name != "c" {
		t.Errorf("the changes are %v, want that of c alone", got)
	}
	if objects, _ := stream.At(now, history.Scope{}); len(objects) != 2 {
		t.Errorf("%d objects, want 2", len(objects))
	}
}

func TestLeavingAScopeIsAChange(t *testing.T) {
	server := apitest.New(t)
	server.Put(pods.Resource, pod("x", "a", "app=web"))
	stream := newRecorder(t, server).Stream(pods)
	await(t, stream, changes(1))
	server.Put(pods.Resource, pod("x", "a", "app=db"))
	server.Put(pods.Resource, pod("x", "a", "app=cache"))
	server.Delete(pods.Resource, "x", "a")
	await(t, stream, changes(4))
	seen, _, _ := stream.Since(0, history.Scope{Selector: withLabel(t, "app=web")})
	expect(t, describe(seen), "added x/a 101 relisted\nmodified x/a 102")
}

func TestOlderStatesAreBounded(t *testing.T) {
	server := apitest.New(t)
	server.Put(pods.Resource, pod("x", "web", "n=0"))
	recorder := newRecorder(t, server, history.WithMaxBytes(500))
	stream := recorder.Stream(pods)
	for i := range 20 {
		await(t, stream, changes(i+1))
		server.Put(pods.Resource, pod("x", "web", fmt.Sprintf("n=%d", i+1)))
	}
	seen := await(t, stream, changes(21))
	kept := 0
	for i, change := range seen {
		switch {
		case change.Object != nil:
			kept++
		case kept > 0:
			t.Errorf("change %d was dropped though an older one is kept", i)
		}
		if change.Name != "web" || change.ResourceVersion == "" {
			t.Errorf("change %d lost its metadata: %+v", i, change)
		}
	}
	if seen[20].Object == nil {
		t.Error("the newest state was dropped")
	}
	if kept < 2 || kept == len(seen) || int64(len(seen)-kept) != recorder.Dropped() {
		t.Errorf("%d of %d states are kept and %d counted as dropped", kept, len(seen), recorder.Dropped())
	}
}
