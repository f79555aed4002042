package writes

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// setBy is what the operations of a JSON patch set and leave there. What they move or copy is not looked at, and
// neither are empty values, of which a patch cannot tell whether they are kept.
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

// removed leaves out what is at a path, below it and above it: what is left of what is above is not known. Where an
// element of a list is removed, it may be any of them.
func removed(set []piece, path []any) []piece {
	if appends(path) {
		path = path[:len(path)-1]
	}
	return slices.DeleteFunc(set, func(p piece) bool { return under(p.Path, path) || under(path, p.Path) })
}

// under says whether a path is another one, or leads on from it.
func under(path, other []any) bool {
	return len(path) >= len(other) && reflect.DeepEqual(path[:len(other)], other)
}

// appends says whether the path is the end of a list, or a place in one, at which an operation may put another element.
func appends(path []any) bool {
	if len(path) == 0 {
		return false
	}
	_, isPlace := path[len(path)-1].(int)
	return isPlace || path[len(path)-1] == "-"
}

// owned says whether the path is to what the API server alone decides.
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

// steps reads a JSON pointer. A number may be a place in a list or a name; it is taken for a place.
func steps(pointer any) []any {
	text, _ := pointer.(string)
	if text == "" {
		return nil
	}
	var all []any
	for step := range strings.SplitSeq(text[1:], "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		if i, err := strconv.Atoi(step); err == nil && i >= 0 {
			all = append(all, i)
		} else {
			all = append(all, step)
		}
	}
	return all
}
