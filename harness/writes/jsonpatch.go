package writes

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// setBy returns what the operations of a JSON patch set and keep. It ignores what they move or copy, and empty
// values, since a patch does not show whether these are kept.
func setBy(operations []any) []piece {
	var set []piece
	for _, o := range operations {
		operation, _ := o.(map[string]any)
		path, from := steps(operation["path"]), steps(operation["from"])
		switch operation["op"] {
		case "add", "replace":
			if !appends(path) {
				set = slices.DeleteFunc(set, func(p piece) bool { return under(p.Path, path) })
			}
			if value := pruned(operation["value"], nil, nil); value != nil && !owned(path) {
				set = append(set, piece{path, value})
			}
		case "remove":
			set = removed(set, path)
		case "move":
			set = removed(set, from)
			set = removed(set, path)
		case "copy":
			set = removed(set, path)
		}
	}
	return set
}

// removed removes the pieces at a path, below it and above it: what remains of those above is unknown. If an element
// of a list is removed, it may be any of them.
func removed(set []piece, path []any) []piece {
	if appends(path) {
		path = path[:len(path)-1]
	}
	return slices.DeleteFunc(set, func(p piece) bool { return under(p.Path, path) || under(path, p.Path) })
}

// under reports whether a path is another one, or continues it.
func under(path, other []any) bool {
	return len(path) >= len(other) && reflect.DeepEqual(path[:len(other)], other)
}

// appends reports whether the path is the end of a list, or an index in one, at which an operation may insert an
// element.
func appends(path []any) bool {
	if len(path) == 0 {
		return false
	}
	_, isPlace := path[len(path)-1].(int)
	return isPlace || path[len(path)-1] == "-"
}

// owned reports whether only the API server decides what is at the path.
func owned(path []any) bool {
	if len(path) == 0 {
		return true
	}
	if path[0] == "apiVersion" || path[0] == "kind" {
		return true
	}
	name, _ := at(path, 1).(string)
	return path[0] == "metadata" && slices.Contains(ownMetadata(), name)
}

// touched lists the top-level fields that the operations of a JSON patch change; "" is the whole object.
func touched(operations []any) []string {
	var fields []string
	for _, o := range operations {
		operation, _ := o.(map[string]any)
		if operation["op"] == "test" {
			continue
		}
		for _, key := range []string{"path", "from"} {
			if pointer, there := operation[key]; there {
				path := steps(pointer)
				fields = append(fields, fmt.Sprint(append(path, "")[0]))
			}
		}
	}
	return fields
}

// steps reads a JSON pointer. A number may be an index in a list or a name; it is read as an index.
func steps(pointer any) []any {
	text, _ := pointer.(string)
	if text == "" {
		return nil
	}
	var all []any
	for step := range strings.SplitSeq(text[1:], "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && strconv.Itoa(i) == step {
			all = append(all, i)
		} else {
			all = append(all, step)
		}
	}
	return all
}
