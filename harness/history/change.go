package history

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Type of a change.
type Type string

// The types of changes.
const (
	Added    Type = "added"
	Modified Type = "modified"
	Deleted  Type = "deleted"
)

// Change is one change of one object.
type Change struct {
	// Seq numbers the changes of all streams of a recorder, from 1, in the order in which they were recorded.
	Seq int64
	// At is when the change was recorded.
	At time.Time
	// Type of the change.
	Type Type
	// Object after the change, or before it was deleted, without managedFields. It is shared: read it only. It is nil
	// when that state was dropped to save memory (WithMaxBytes); the fields below remain.
	Object *unstructured.Unstructured
	// Before is the object before the change; nil when it was added, or when that state was dropped.
	Before *unstructured.Unstructured
	// Namespace, Name, UID and ResourceVersion of the object.
	Namespace, Name string
	UID             types.UID
	ResourceVersion string
	// Relisted: a list found the change, not the watch. It is unknown when it happened since the list before, and what
	// happened in between.
	Relisted bool
	// More: another change of the same list follows. The cluster never had the state between the two, so nothing may be
	// concluded from it.
	More bool

	// era is how often the storage had been replaced when the change was recorded.
	era int
	// sameVersion: only how an API server shows the object changed. The stored object is the one before, with its
	// resourceVersion.
	sameVersion bool
}

// Gap is a time during which a stream was not connected.
type Gap struct {
	// From is the start. To is the end, zero while the gap lasts.
	From, To time.Time
	// Err is why.
	Err error
	// Relisted: the watch could not be resumed where it broke off, so changes in the gap may have been missed. If not,
	// every change in the gap was reported afterwards.
	Relisted bool
	// WentBack: what was there after the gap was older than what had been seen, since the storage was replaced.
	WentBack bool
}

// record is a change as it is kept.
type record struct {
	Change
	// labels of the object; they outlive its state.
	labels map[string]string
	// before and next are the records of the same object around this one; nil before its first and after its last.
	before, next *record
	// batch is the same for all changes of one list; 0 for a change that the watch reported.
	batch int64
	// While Object is set, it is the state. Afterwards the state is packed: whole, or as a merge patch to the state
	// before.
	patch, whole []byte
	// patches is how many patches in a row lead to this state from a whole one.
	patches int
	// bytes is the estimated size of the state, once it is counted.
	bytes int64
}

// concerns reports whether the object is in the scope, or was until this change.
func (r *record) concerns(scope Scope) bool {
	return scope.has(r.Namespace, r.Name, r.labels) ||
		r.before != nil && scope.has(r.Namespace, r.Name, r.before.labels)
}
