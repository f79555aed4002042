package matching

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Change is one place at which an object changed.
type Change struct {
	// Path of the field: spec.template.spec.containers[name=web].image. Elements of a list are named by their keys, or
	// by their index.
	Path string
	// Old and New are the values before and after; nil is an absent field.
	Old, New any
}

// String is path: old -> new, in one line. Long values are shortened, if possible by what both have in common.
func (c Change) String() string {
	before, after := written(c.Old), written(c.New)
	before, after = cutAlike(before, after)
	path := c.Path
	if path == "" {
		path = "(the whole)"
	}
	return fmt.Sprintf("%s: %s -> %s", path, before, after)
}

// Confidential reports whether the values must not be in a report: those of Secrets, and of environment variables.
// kind is the object's kind.
func (c Change) Confidential(kind string) bool {
	return kind == "Secret" && !strings.HasPrefix(c.Path, "metadata.") || strings.Contains(c.Path, ".env[") ||
		strings.HasSuffix(c.Path, ".env") || strings.Contains(c.Path, lastApplied)
}

// lastApplied is the annotation in which kubectl keeps the whole manifest, with all its values.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Redacted returns the change without confidential values inside the old and the new value, such as those of the
// environment variables of an added container.
func (c Change) Redacted() Change {
	c.Old, c.New = redacted(c.Old), redacted(c.New)
	return c
}

const hidden = "(hidden)"

func redacted(value any) any {
	switch value := value.(type) {
	case map[string]any:
		fields := make(map[string]any, len(value))
		for name, inner := range value {
			switch variables, isList := inner.([]any); {
			case name == lastApplied:
				fields[name] = hidden
			case name == "env" && isList:
				fields[name] = withoutValues(variables)
			default:
				fields[name] = redacted(inner)
			}
		}
		return fields
	case []any:
		all := make([]any, len(value))
		for i, inner := range value {
			all[i] = redacted(inner)
		}
		return all
	}
	return value
}

// withoutValues hides the values of environment variables.
func withoutValues(variables []any) []any {
	all := make([]any, len(variables))
	for i, one := range variables {
		all[i] = one
		if fields, ok := one.(map[string]any); ok && fields["value"] != nil {
			fields = maps.Clone(fields)
			fields["value"], all[i] = hidden, fields
		}
	}
	return all
}

// Changes returns where two objects differ in their normal form (Normal), sorted by path.
func Changes(before, after map[string]any) []Change {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	return ChangesAt("", Normal(before), Normal(after))
}

// ChangesAt returns where two values at a path differ; nil is an absent field. Both are in normal form, and the order
// of a list matters.
func ChangesAt(path string, before, after any) []Change {
	before, after = plain(before), plain(after)
	switch before := before.(type) {
	case nil:
		if after == nil {
			return nil
		}
	case map[string]any:
		if after, ok := after.(map[string]any); ok {
			return changedFields(path, before, after)
		}
	case []any:
		if after, ok := after.([]any); ok {
			return changedList(path, before, after)
		}
	default:
		if equalScalars(before, after) {
			return nil
		}
	}
	return []Change{{Path: path, Old: before, New: after}}
}

func changedFields(path string, before, after map[string]any) []Change {
	keys := slices.Collect(maps.Keys(before))
	for key := range after {
		if _, both := before[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	var changes []Change
	for _, key := range keys {
		changes = append(changes, ChangesAt(join(path, key), before[key], after[key])...)
	}
	return changes
}

func changedList(path string, before, after []any) []Change {
	if keys := sharedKeys(before, after); keys != nil {
		return changedElements(path, before, after, keys)
	}
	if len(before) != len(after) {
		return []Change{{Path: path, Old: before, New: after}}
	}
	var changes []Change
	for i := range before {
		changes = append(changes, ChangesAt(fmt.Sprintf("%s[%d]", path, i), before[i], after[i])...)
	}
	return changes
}

// sharedKeys returns the keys that identify the elements of both lists, or nil.
func sharedKeys(before, after []any) []string {
	if len(before) == 0 || len(after) == 0 {
		return nil
	}
	for _, keys := range wellKnownKeys() {
		if tellApart(before, keys) && tellApart(after, keys) {
			return keys
		}
	}
	return nil
}

// changedElements compares the elements that have the same keys, and then the order of those that are in both lists.
func changedElements(path string, before, after []any, keys []string) []Change {
	was, is := byKey(before, keys), byKey(after, keys)
	var changes []Change
	var order [2][]any
	for _, element := range before {
		key := keyOf(element, keys)
		changes = append(changes, ChangesAt(path+key, element, is[key])...)
		if is[key] != nil {
			order[0] = append(order[0], key)
		}
	}
	for _, element := range after {
		key := keyOf(element, keys)
		if was[key] == nil {
			changes = append(changes, Change{Path: path + key, New: element})
			continue
		}
		order[1] = append(order[1], key)
	}
	if !slices.Equal(order[0], order[1]) {
		changes = append(changes, Change{Path: path + " (order)", Old: order[0], New: order[1]})
	}
	return changes
}

func byKey(elements []any, keys []string) map[string]any {
	named := map[string]any{}
	for _, element := range elements {
		named[keyOf(element, keys)] = element
	}
	return named
}

// The maximum length of a value in one line, and how much of the common part stays before and after the difference.
const (
	longestValue = 80
	shownAround  = 12
)

func written(v any) string {
	if v == nil {
		return "absent"
	}
	return inline(v)
}

// cutAlike shortens two texts, but keeps the part in which they differ.
func cutAlike(before, after string) (cutBefore, cutAfter string) {
	a, b := []rune(before), []rune(after)
	if len(a) <= longestValue && len(b) <= longestValue {
		return before, after
	}
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	start, end = max(0, start-shownAround), max(0, end-shownAround)
	return cutMiddle(a, start, end), cutMiddle(b, start, end)
}

// cutMiddle removes the given numbers of runes from the start and the end, and the middle of a long rest.
func cutMiddle(text []rune, first, last int) string {
	shown := text[first : len(text)-last]
	before, after := "", ""
	if first > 0 {
		before = "..."
	}
	if last > 0 {
		after = "..."
	}
	if len(shown) <= longestValue {
		return before + string(shown) + after
	}
	half := longestValue/2 - 2
	return before + string(shown[:half]) + "..." + string(shown[len(shown)-half:]) + after
}
