package historytest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

type key struct{ resource, namespace, name string }

type event struct {
	revision int
	key      key
	change   watch.EventType
	object   *unstructured.Unstructured
}

// snapshot is what a list answers, page by page.
type snapshot struct {
	revision string
	objects  []*unstructured.Unstructured
}

// storage is like etcd: objects, one revision for all of them, and the events since the last compaction.
type storage struct {
	revision  int
	compacted int
	// cached is where the events begin that the API server itself knows of: it was started anew then.
	cached    int
	uids      int
	objects   map[key]*unstructured.Unstructured
	events    []event
	snapshots []snapshot
}

func newStorage() storage {
	return storage{revision: 100, compacted: 100, objects: map[key]*unstructured.Unstructured{}}
}

// Put creates the object, or replaces the one of its name, and returns what is stored.
func (s *Server) Put(resource schema.GroupVersionResource, object map[string]any) *unstructured.Unstructured {
	s.t.Helper()
	stored := s.decoded(object)
	s.do(func() {
		at := key{resource.Resource, stored.GetNamespace(), stored.GetName()}
		change := watch.Added
		if before := s.objects[at]; before != nil {
			change = watch.Modified
			stored.SetUID(before.GetUID())
		} else {
			s.uids++
			stored.SetUID(types.UID(fmt.Sprintf("uid-%d", s.uids)))
		}
		s.commit(at, change, stored)
	})
	return stored.DeepCopy()
}

// decoded is the object as a client sends it.
func (s *Server) decoded(object map[string]any) *unstructured.Unstructured {
	s.t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		s.t.Fatal(err)
	}
	decoded := &unstructured.Unstructured{}
	if err := decoded.UnmarshalJSON(text); err != nil {
		s.t.Fatal(err)
	}
	return decoded
}

// Delete deletes an object, and returns what was stored; nil when there was none.
func (s *Server) Delete(resource schema.GroupVersionResource, namespace, name string) *unstructured.Unstructured {
	var gone *unstructured.Unstructured
	s.do(func() {
		at := key{resource.Resource, namespace, name}
		if s.objects[at] == nil {
			return
		}
		gone = s.objects[at].DeepCopy()
		s.commit(at, watch.Deleted, gone)
	})
	return gone
}

func (s *storage) commit(at key, change watch.EventType, object *unstructured.Unstructured) {
	s.revision++
	object.SetResourceVersion(strconv.Itoa(s.revision))
	s.events = append(s.events, event{s.revision, at, change, object})
	if change == watch.Deleted {
		delete(s.objects, at)
		return
	}
	s.objects[at] = object
}

// Render shows an object otherwise from now on, as another API server would: what is stored, its resourceVersion
// included, stays.
func (s *Server) Render(resource schema.GroupVersionResource, namespace, name string,
	change func(*unstructured.Unstructured),
) {
	s.do(func() {
		at := key{resource.Resource, namespace, name}
		rendered := s.objects[at].DeepCopy()
		change(rendered)
		s.objects[at] = rendered
	})
}

// Forget lets no new watch begin before now, as an API server that was started anew: what was stored before can still
// be listed.
func (s *Server) Forget() { s.do(func() { s.cached = s.revision }) }

// Compact lets no new watch begin before now, and nothing from before be listed; the watches under way go on.
func (s *Server) Compact() { s.do(func() { s.compacted = s.revision }) }

// Snapshot returns a function that puts the storage back to what it is now, its revision included.
func (s *Server) Snapshot() (restore func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	revision, objects := s.revision, maps.Clone(s.objects)
	return func() {
		s.do(func() {
			s.revision, s.compacted, s.events, s.objects = revision, revision, nil, maps.Clone(objects)
		})
	}
}

// Objects returns what is stored of a resource, sorted by namespace and name.
func (s *Server) Objects(resource schema.GroupVersionResource) []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of(resource.Resource, func(*unstructured.Unstructured) bool { return true })
}

// at is what was stored at a revision.
func (s *storage) at(revision int) map[key]*unstructured.Unstructured {
	objects := map[key]*unstructured.Unstructured{}
	for _, e := range s.events {
		switch {
		case e.revision > revision:
		case e.change == watch.Deleted:
			delete(objects, e.key)
		default:
			objects[e.key] = e.object
		}
	}
	return objects
}

func (s *storage) of(resource string, wanted func(*unstructured.Unstructured) bool) []*unstructured.Unstructured {
	return sorted(s.objects, resource, wanted)
}

func sorted(all map[key]*unstructured.Unstructured, resource string,
	wanted func(*unstructured.Unstructured) bool,
) []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for at, object := range all {
		if at.resource == resource && wanted(object) {
			objects = append(objects, object)
		}
	}
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return objects
}
