package growth

import (
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
)

// set sets the value at a place, and adds missing parents.
func (g *grower) set(object map[string]any, place fields.Place, value any) bool {
	for i := 1; i < len(place); i++ {
		parent := place[:i]
		current, there := fields.Get(object, parent)
		if there && current != nil && (i == len(place)-1 || !empty(current)) {
			continue
		}
		f := g.kind.Root.At(parent)
		if f == nil {
			return false
		}
		if f.Scalar() {
			return false
		}
		if there && current != nil {
			if _, isMap := current.(map[string]any); isMap && f.Type == fields.Object {
				continue
			}
		}
		if !fields.Set(object, parent, g.build(f)) {
			return false
		}
	}
	return fields.Set(object, place, value)
}

func empty(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}

// locate is the place of a field in an object: in the first item of each list, and under the first key of each map.
func (g *grower) locate(object map[string]any, f *fields.Field) fields.Place {
	var place fields.Place
	at := g.kind.Root
	for _, step := range f.Path {
		switch step {
		case fields.Item:
			place = append(place, 0)
		case fields.Value:
			key := g.mapKey(at)
			if value, there := fields.Get(object, place); there {
				if m, ok := value.(map[string]any); ok && len(m) > 0 {
					key = slices.Sorted(maps.Keys(m))[0]
				}
			}
			place = append(place, key)
		default:
			place = append(place, step)
		}
		at = at.Child(step)
	}
	return place
}

// cover records the fields of an accepted object.
func (g *grower) cover(object map[string]any) {
	for _, place := range Places(object) {
		for i := range place {
			f := g.kind.Root.At(place[:i+1])
			if f == nil {
				break
			}
			path := f.Path.String()
			if _, known := g.holder[path]; !known {
				g.holder[path] = object
			}
			delete(g.rejected, path)
		}
	}
}

// overlay adds the fields of another object to an object. It returns false if they differ in a value.
func overlay(object, other map[string]any) bool {
	for key, value := range other {
		mine, there := object[key]
		if !there {
			object[key] = copyOf(value)
			continue
		}
		if !overlayValue(mine, value, func(v any) { object[key] = v }) {
			return false
		}
	}
	return true
}

func overlayValue(mine, other any, put func(any)) bool {
	switch other := other.(type) {
	case map[string]any:
		m, ok := mine.(map[string]any)
		return ok && overlay(m, other)
	case []any:
		l, ok := mine.([]any)
		if !ok {
			return false
		}
		for i, value := range other {
			if i >= len(l) {
				l = append(l, copyOf(value))
				continue
			}
			if !overlayValue(l[i], value, func(v any) { l[i] = v }) {
				return false
			}
		}
		put(l)
		return true
	}
	return same(mine, other)
}
