package history

import "hash/maphash"

// shared lets objects share equal parts: objects of a kind have the same fields and mostly the same values. It has a
// fixed size, and forgets what does not fit.
type shared struct {
	seed  maphash.Seed
	known [8192]any
}

func newShared() *shared { return &shared{seed: maphash.MakeSeed()} }

// object shares the parts of an object; it is changed in place.
func (s *shared) object(o map[string]any) {
	for key, value := range o {
		s.put(o, key, value)
	}
}

// next is like object, for the next state of an object. Mostly nearly all of it is unchanged, which is found without
// a hash.
func (s *shared) next(o, before map[string]any) {
	for key, value := range o {
		name, _ := s.text(key)
		o[name.(string)] = s.after(before[key], value)
	}
}

// after returns the value that replaces another one: that one if they are equal.
func (s *shared) after(before, v any) any {
	if equal(before, v) {
		return before
	}
	inner, isMap := v.(map[string]any)
	if old, wasMap := before.(map[string]any); isMap && wasMap {
		s.next(inner, old)
		return v
	}
	v, _ = s.value(v)
	return v
}

// put returns the hash of a key with its value, both of which it shares.
func (s *shared) put(m map[string]any, key string, value any) uint64 {
	name, h := s.text(key)
	value, inner := s.value(value)
	m[name.(string)] = value // assigning to a text's entry replaces the text by the equal one
	return h*31 ^ inner
}

// value returns the value, or one that is equal to it, and its hash.
func (s *shared) value(v any) (any, uint64) {
	h := uint64(1)
	switch v := v.(type) {
	case string:
		return s.text(v)
	case map[string]any:
		for key, value := range v {
			h += mixed(s.put(v, key, value)) // in any order
		}
	case []any:
		h = 2
		for i, item := range v {
			var inner uint64
			v[i], inner = s.value(item)
			h = mixed(h) ^ inner
		}
	case int64:
		return v, mixed(uint64(v)) // a hash
	case bool:
		if v {
			h = 3
		}
		return v, h
	default:
		return v, h
	}
	return s.one(v, mixed(h)), h
}

func (s *shared) text(text string) (any, uint64) {
	h := maphash.String(s.seed, text)
	place := &s.known[h%uint64(len(s.known))]
	if known, ok := (*place).(string); !ok || known != text {
		*place = text
	}
	return *place, h
}

func (s *shared) one(v any, h uint64) any {
	place := &s.known[h%uint64(len(s.known))]
	if *place == nil || !equal(*place, v) {
		*place = v
	}
	return *place
}

// mixed spreads a hash over all bits.
func mixed(h uint64) uint64 {
	h ^= h >> 31
	h *= 0x9e3779b97f4a7c15
	return h ^ h>>29
}
