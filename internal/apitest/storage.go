package apitest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// storage is like etcd: objects, one revision for all of them, and the events since the last compaction.
type storage struct {
	t testing.TB

	mu sync.Mutex
	// changed is signaled after each change.
	changed   *sync.Cond
	revision  int
	compacted int
	// cached is where the events begin that the API server itself knows: its simulated restart.
	cached  int
	uids    int
	objects map[key]*unstructured.Unstructured
	events  []event
	// unmanaged says that no managed fields are kept.
	unmanaged bool
}

func newStorage(t testing.TB) *storage {
	s := &storage{t: t, revision: 100, compacted: 100, objects: map[key]*unstructured.Unstructured{}}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// do makes a change, and wakes up all waiting goroutines.
func (s *storage) do(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.changed.Broadcast()
}

// Put creates or replaces an object, as another client would, and returns the stored object.
func (s *storage) Put(resource string, object map[string]any) *unstructured.Unstructured {
	s.t.Helper()
	stored := s.decoded(object)
	s.do(func() {
		at := key{resource, stored.GetNamespace(), stored.GetName()}
		if len(stored.GetManagedFields()) == 0 {
			s.manage(stored, "somebody", metav1.ManagedFieldsOperationUpdate)
		}
		s.write(at, stored)
	})
	return stored.DeepCopy()
}

// decoded returns the object as a client sends it.
func (s *storage) decoded(object map[string]any) *unstructured.Unstructured {
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

// manage adds the writer of an object, before all earlier ones.
func (s *storage) manage(object *unstructured.Unstructured, manager string, as metav1.ManagedFieldsOperationType) {
	if s.unmanaged {
		object.SetManagedFields(nil)
		return
	}
	now := metav1.Now()
	entries := []metav1.ManagedFieldsEntry{{
		Manager: manager, Operation: as, Time: &now, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{}`),
	}}
	for _, entry := range object.GetManagedFields() {
		if entry.Manager != manager || entry.Operation != as {
			entries = append(entries, entry)
		}
	}
	object.SetManagedFields(entries)
}

// write stores an object. If it is terminating and has no finalizers left, it is deleted instead.
func (s *storage) write(at key, object *unstructured.Unstructured) {
	establish(at, object)
	before := s.objects[at]
	if before == nil {
		s.uids++
		object.SetUID(types.UID(fmt.Sprintf("uid-%d", s.uids)))
		s.commit(at, watch.Added, object)
		return
	}
	object.SetUID(before.GetUID())
	if before.GetDeletionTimestamp() != nil {
		object.SetDeletionTimestamp(before.GetDeletionTimestamp())
		if len(object.GetFinalizers()) == 0 {
			s.drop(at, object)
			return
		}
	}
	s.commit(at, watch.Modified, object)
}

// drop deletes an object and, if it is a namespace, everything in it.
func (s *storage) drop(at key, object *unstructured.Unstructured) {
	s.commit(at, watch.Deleted, object)
	if at.resource != "namespaces" {
		return
	}
	for other, content := range s.objects {
		if other.namespace == at.name {
			s.drop(other, content.DeepCopy())
		}
	}
}

func (s *storage) commit(at key, change watch.EventType, object *unstructured.Unstructured) {
	s.revision++
	object.SetResourceVersion(strconv.Itoa(s.revision))
	s.events = append(s.events, event{s.revision, at, change, object.DeepCopy()})
	if change == watch.Deleted {
		delete(s.objects, at)
		return
	}
	s.objects[at] = object
}

// Delete deletes an object, and returns what was stored, or nil.
func (s *storage) Delete(resource, namespace, name string) *unstructured.Unstructured {
	var gone *unstructured.Unstructured
	s.do(func() {
		at := key{resource, namespace, name}
		if s.objects[at] != nil {
			gone = s.objects[at].DeepCopy()
			s.drop(at, gone)
		}
	})
	return gone
}

// Render changes how an object is shown from now on, as another API server would. The stored object, including its
// resourceVersion, does not change.
func (s *storage) Render(resource, namespace, name string, change func(*unstructured.Unstructured)) {
	s.do(func() {
		at := key{resource, namespace, name}
		rendered := s.objects[at].DeepCopy()
		change(rendered)
		s.objects[at] = rendered
	})
}

// Unmanaged makes the storage drop managed fields from now on, as some aggregated API servers do.
func (s *storage) Unmanaged() { s.do(func() { s.unmanaged = true }) }

// Forget rejects new watches from earlier resourceVersions, like a restarted API server. Older objects can still be
// listed.
func (s *storage) Forget() { s.do(func() { s.cached = s.revision }) }

// Compact rejects new watches and lists at earlier resourceVersions. Running watches continue.
func (s *storage) Compact() { s.do(func() { s.compacted = s.revision }) }

// Snapshot returns a function that restores the storage, including its revision. Running watches continue.
func (s *storage) Snapshot() (restore func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	revision, objects := s.revision, maps.Clone(s.objects)
	return func() {
		s.do(func() {
			s.revision, s.compacted, s.events, s.objects = revision, revision, nil, maps.Clone(objects)
		})
	}
}

// Object returns what is stored, or nil.
func (s *storage) Object(resource, namespace, name string) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	if object := s.objects[key{resource, namespace, name}]; object != nil {
		return object.DeepCopy()
	}
	return nil
}

// Objects returns what is stored of a resource, sorted by namespace and name.
func (s *storage) Objects(resource string) []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sorted(s.objects, resource, func(*unstructured.Unstructured) bool { return true })
}

// Writes returns the revisions that changed objects of a resource: after the first one, up to the second. It is a
// history.Writes.
func (s *storage) Writes(_ context.Context, resource schema.GroupResource, after, upTo int64) ([]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if after < int64(s.compacted) {
		return nil, fmt.Errorf("revision %d is compacted", after)
	}
	var revisions []int64
	for _, e := range s.events {
		if r := int64(e.revision); e.key.resource == resource.Resource && r > after && r <= upTo {
			revisions = append(revisions, r)
		}
	}
	return revisions, nil
}

// Count returns how many objects of a resource there are.
func (s *storage) Count(resource string) int { return len(s.Objects(resource)) }

// at returns what was stored at a revision.
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
