package history

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// maxPatches bounds how many patches must be applied to read a packed state.
const maxPatches = 32

// follow puts the record after the record of the same object's previous state, and shares with it what is the same.
func (r *record) follow(before *record) {
	before.next = r
	r.Namespace, r.Name = before.Namespace, before.Name
	if r.UID == before.UID {
		r.UID = before.UID
	}
	if maps.Equal(r.labels, before.labels) {
		r.labels = before.labels
	}
	if before.Object == nil || before.patches == maxPatches {
		return
	}
	patch, exact := Patch(before.Object.Object, r.Object.Object)
	if !exact {
		return
	}
	if text, err := direct.Marshal(patch); err == nil {
		r.patch, r.patches = text, before.patches+1
	}
}

// pack replaces the decoded state with its packed form. A state that can't be encoded is lost.
func (r *record) pack() {
	if r.patch == nil {
		r.whole, _ = direct.Marshal(r.Object.Object) // what is lost is reported as dropped
	}
	r.Object = nil
	r.weigh()
}

// weigh counts the bytes of a packed record.
func (r *record) weigh() { r.bytes = int64(len(r.patch) + len(r.whole)) }

// standAlone makes the record independent of the one before it, which is packed and about to be dropped.
func (r *record) standAlone(before *record) {
	if r.patch == nil {
		return
	}
	if r.Object == nil {
		if object := r.unpack(before.unpack(nil)); object != nil {
			r.whole, _ = direct.Marshal(object.Object) // what is lost is reported as dropped
		}
	}
	r.patch, r.patches = nil, 0
	if r.Object == nil {
		r.weigh()
	}
}

// unpack returns the record's state, given the one before; nil if it was dropped.
func (r *record) unpack(before *unstructured.Unstructured) *unstructured.Unstructured {
	switch {
	case r.Object != nil:
		return r.Object
	case r.whole != nil:
		return decoded(r.whole)
	case r.patch == nil || before == nil:
		return nil
	}
	patch := decoded(r.patch)
	if patch == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: merged(before.Object, patch.Object)}
}

func decoded(text []byte) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	if err := direct.Unmarshal(text, &object.Object); err != nil {
		return nil
	}
	return object
}

// states reads the states of records. It remembers the last one of each object, so that reading the next one costs
// one patch.
type states struct {
	last map[[2]string]read
}

type read struct {
	record *record
	object *unstructured.Unstructured
}

// of returns a record's state; nil if it was dropped.
func (s *states) of(r *record) *unstructured.Unstructured {
	if r.Object != nil {
		return r.Object
	}
	key := [2]string{r.Namespace, r.Name}
	if s.last == nil {
		s.last = map[[2]string]read{}
	}
	last := s.last[key]
	// Go back to a state that is whole or already known.
	var chain []*record
	from := r
	for from != last.record && from.Object == nil && from.whole == nil {
		if from.patch == nil || from.before == nil {
			return nil
		}
		chain = append(chain, from)
		from = from.before
	}
	object := last.object
	if from != last.record {
		object = from.unpack(nil)
	}
	for i := len(chain) - 1; i >= 0; i-- {
		object = chain[i].unpack(object)
	}
	s.last[key] = read{r, object}
	return object
}
