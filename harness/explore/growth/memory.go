package growth

import (
	"maps"
	"sync"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
)

// memory has accepted values of fields, by owner. Kinds that grow at the same time have separate memories, so that the
// result is the same each time.
type memory struct {
	mu    sync.Mutex
	known map[string][]any
	below *memory
}

func (m *memory) values(owner string) []any {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return append(append([]any(nil), m.known[owner]...), m.below.values(owner)...)
}

// learn remembers the scalar values of an accepted object.
func (m *memory) learn(kind *fields.Kind, object map[string]any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, place := range Places(object) {
		f := kind.Root.At(place)
		if f == nil || !f.Scalar() || len(m.known[f.Owner]) >= 3 {
			continue
		}
		value, _ := fields.Get(object, place)
		if !contains(m.known[f.Owner], value) {
			m.known[f.Owner] = append(m.known[f.Owner], value)
		}
	}
}

func contains(all []any, value any) bool {
	for _, one := range all {
		if same(one, value) {
			return true
		}
	}
	return false
}

// merged combines several memories.
func merged(all ...*memory) *memory {
	m := &memory{known: map[string][]any{}}
	for _, one := range all {
		maps.Copy(m.known, one.known)
	}
	return m
}

// Places are all places of an object, except those that every object has.
func Places(object map[string]any) []fields.Place {
	var all []fields.Place
	for _, leaf := range fields.Leaves(object) {
		switch leaf[0] {
		case "apiVersion", "kind":
			continue
		case "metadata":
			if len(leaf) > 1 && (leaf[1] == "name" || leaf[1] == "namespace") {
				continue
			}
		}
		all = append(all, leaf)
	}
	return all
}
