package history

// maxUnpacked bounds the older states that are kept unpacked, in estimated bytes. They may still be judged soon.
const maxUnpacked = 16 << 20

// retention keeps the older states of objects within a bound: they are packed first, and the oldest are dropped if
// that is not enough.
type retention struct {
	maxBytes int64
	// bytes of all older states, and of those among them that are not packed.
	bytes, unpacked int64
	// older are the states in the order in which newer ones replaced them: those before first are dropped, those before
	// packed are packed.
	older         []*record
	first, packed int
	dropped       int64
}

// supersede notes that the state of a record is no longer an object's newest.
func (t *retention) supersede(r *record) {
	if r.Object == nil {
		return
	}
	r.bytes = sizeOf(r.Object.Object)
	t.bytes += r.bytes
	t.unpacked += r.bytes
	t.older = append(t.older, r)
	for t.unpacked > min(maxUnpacked, t.maxBytes/8) && t.packed < len(t.older) {
		t.pack()
	}
	for t.bytes > t.maxBytes && t.first < len(t.older) {
		if t.first == t.packed {
			t.pack()
		}
		t.drop()
	}
	if t.first > 1024 && t.first > len(t.older)/2 {
		t.older = append([]*record(nil), t.older[t.first:]...)
		t.packed -= t.first
		t.first = 0
	}
}

func (t *retention) pack() {
	r := t.older[t.packed]
	t.packed++
	t.unpacked -= r.bytes
	t.bytes -= r.bytes
	r.pack()
	t.bytes += r.bytes
}

func (t *retention) drop() {
	r := t.older[t.first]
	t.older[t.first] = nil
	t.first++
	t.dropped++
	t.bytes -= r.bytes
	if next := r.next; next != nil {
		before := next.bytes
		next.standAlone(r)
		if next.Object == nil {
			t.bytes += next.bytes - before
		}
	}
	r.patch, r.whole, r.bytes = nil, nil, 0
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
