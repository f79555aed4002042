package history

import (
	"cmp"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// atOnce is how many states are read under one lock at most, in a long read: meanwhile nothing can be recorded.
const atOnce = 256

// Since returns the changes after number seq of objects that are in the scope or were until that change. It also
// returns the number to continue from, and a channel that is closed as soon as there may be more. No change is missed
// between two calls.
func (s *recorded) Since(seq int64, scope Scope) (changes []Change, upTo int64, wake <-chan struct{}) {
	s.recorder.mu.RLock()
	defer s.recorder.mu.RUnlock()
	changes, _ = s.between(seq, s.recorder.seq, scope, 0, &states{})
	return changes, s.recorder.seq, s.wake
}

// ChangesBetween returns the changes with from < Seq <= to of objects that are in the scope or were until that change.
func (s *recorded) ChangesBetween(from, to int64, scope Scope) []Change {
	s.recorder.mu.RLock()
	defer s.recorder.mu.RUnlock()
	changes, _ := s.between(from, to, scope, 0, &states{})
	return changes
}

// Replay yields what ChangesBetween returns, without holding all of it in memory.
func (s *recorded) Replay(from, to int64, scope Scope) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		known := &states{}
		for from < to {
			s.recorder.mu.RLock()
			changes, next := s.between(from, to, scope, atOnce, known)
			s.recorder.mu.RUnlock()
			for _, change := range changes {
				if !yield(change) {
					return
				}
			}
			from = next
		}
	}
}

// between returns at most that many changes (0 is all), and the number to continue from.
func (s *recorded) between(from, to int64, scope Scope, most int, known *states) (changes []Change, next int64) {
	first, _ := slices.BinarySearchFunc(s.records, from+1,
		func(r *record, seq int64) int { return cmp.Compare(r.Seq, seq) })
	var batch int64
	for _, r := range s.records[first:] {
		if r.Seq > to {
			break
		}
		if !r.concerns(scope) {
			continue
		}
		if len(changes) > 0 && r.batch != 0 && r.batch == batch {
			changes[len(changes)-1].More = true
		}
		if most > 0 && len(changes) == most {
			return changes, changes[most-1].Seq
		}
		changes = append(changes, r.change(known))
		batch = r.batch
	}
	return changes, to
}

// change returns the record for readers, with the states around it.
func (r *record) change(known *states) Change {
	change := r.Change
	if r.before != nil {
		change.Before = known.of(r.before)
	}
	change.Object = known.of(r)
	return change
}

// At returns the objects that were in scope after change number seq, sorted by namespace and name, and the number of
// further objects whose state was dropped.
func (s *recorded) At(seq int64, scope Scope) (objects []*unstructured.Unstructured, dropped int) {
	records := s.newestAt(seq, scope)
	for chunk := range slices.Chunk(records, atOnce) {
		s.recorder.mu.RLock()
		for _, r := range chunk {
			if object := (&states{}).of(r); object != nil {
				objects = append(objects, object)
			} else {
				dropped++
			}
		}
		s.recorder.mu.RUnlock()
	}
	return objects, dropped
}

func (s *recorded) newestAt(seq int64, scope Scope) []*record {
	s.recorder.mu.RLock()
	defer s.recorder.mu.RUnlock()
	newest := map[[2]string]*record{}
	for _, r := range s.records {
		if r.Seq > seq {
			break
		}
		key := [2]string{r.Namespace, r.Name}
		if r.Type == Deleted || !scope.has(r.Namespace, r.Name, r.labels) {
			delete(newest, key)
		} else {
			newest[key] = r
		}
	}
	records := make([]*record, 0, len(newest))
	for _, r := range newest {
		records = append(records, r)
	}
	slices.SortFunc(records, func(a, b *record) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return records
}

// Part is what to read of one stream.
type Part struct {
	Stream *Stream
	Scope  Scope
}

// Merge yields the changes of several streams with from < Seq <= to, each with the number of its part. They are in
// the order in which the API server made them: by their resourceVersions, which all resources of one storage share.
// Changes that can't be compared are in the order in which they were recorded: a deletion that only a list found, and
// what another API server shows differently of an object that did not change. The changes of one stream keep their
// order.
func Merge(from, to int64, parts []Part) iter.Seq2[int, Change] {
	return func(yield func(int, Change) bool) {
		heads := make([]*head, len(parts))
		for i, part := range parts {
			next, stop := iter.Pull(part.Stream.Replay(from, to, part.Scope))
			defer stop()
			heads[i] = &head{next: next}
			heads[i].advance()
		}
		for {
			first := -1
			for i, h := range heads {
				if h.open && (first < 0 || h.change.beforeOther(heads[first].change)) {
					first = i
				}
			}
			if first < 0 || !yield(first, heads[first].change) {
				return
			}
			heads[first].advance()
		}
	}
}

type head struct {
	next   func() (Change, bool)
	change Change
	open   bool
}

func (h *head) advance() { h.change, h.open = h.next() }

// beforeOther reports whether a change is before one of another stream.
func (c Change) beforeOther(other Change) bool {
	if c.era != other.era {
		return c.era < other.era
	}
	untimed := c.untimed() || other.untimed()
	if order, ok := compare(c.ResourceVersion, other.ResourceVersion); ok && order != 0 && !untimed {
		return order < 0
	}
	return c.Seq < other.Seq
}

// untimed reports that the change happened later than its resourceVersion says.
func (c Change) untimed() bool { return c.sameVersion || c.Relisted && c.Type == Deleted }
