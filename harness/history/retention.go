package history

// retention holds the older states of objects within a bound: the oldest of them are dropped first.
type retention struct {
	maxBytes int64
	bytes    int64
	// older states in the order in which newer ones took their place; those before first are dropped.
	older   []*record
	first   int
	dropped int64
}

// supersede takes note that the state of a record is no longer an object's newest.
func (t *retention) supersede(r *record) {
	if r.Object == nil {
		return
	}
	r.bytes = sizeOf(r.Object.Object)
	t.bytes += r.bytes
	t.older = append(t.older, r)
	for t.bytes > t.maxBytes && t.first < len(t.older) {
		oldest := t.older[t.first]
		t.older[t.first] = nil
		t.first++
		t.bytes -= oldest.bytes
		t.dropped++
		oldest.Object = nil
	}
	if t.first > 1024 && t.first > len(t.older)/2 {
		t.older = append([]*record(nil), t.older[t.first:]...)
		t.first = 0
	}
}

// sizeOf estimates the bytes of memory that a decoded JSON value takes.
func sizeOf(v any) int64 {
	const word = 8
	switch v := v.(type) {
	case map[string]any:
		size := int64(6 * word)
		for key, value := range v {
			size += 5*word + int64(len(key)) + sizeOf(value)
		}
		return size
	case []any:
		size := int64(3 * word)
		for _, value := range v {
			size += 2*word + sizeOf(value)
		}
		return size
	case string:
		return 2*word + int64(len(v))
	default:
		return word
	}
}
