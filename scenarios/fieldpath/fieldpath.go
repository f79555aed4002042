// Package fieldpath reads and writes the paths of fields in objects.
package fieldpath

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Path leads to values in an object: metadata.uid, status.containerStatuses[*].restartCount,
// metadata.labels["a.b/c"].
type Path []part

// part is a field by its name, an item by its number, or all items.
type part struct {
	name  string
	index int
	kind  partKind
}

type partKind int

const (
	byName partKind = iota
	byIndex
	allItems
)

// Parse reads a path.
func Parse(text string) (Path, error) {
	var path Path
	for rest := text; rest != ""; {
		var step part
		var err error
		switch {
		case rest[0] == '[':
			step, rest, err = bracket(rest)
		case rest[0] == '.' && len(path) == 0:
			err = errors.New("it begins with a dot")
		default:
			if len(path) > 0 {
				if rest[0] != '.' {
					return nil, fmt.Errorf("path %q: a dot is missing before %q", text, rest)
				}
				rest = rest[1:]
			}
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			if end == 0 {
				return nil, fmt.Errorf("path %q: a name is missing", text)
			}
			step, rest = part{name: rest[:end]}, rest[end:]
		}
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", text, err)
		}
		path = append(path, step)
	}
	if len(path) == 0 {
		return nil, errors.New("an empty path")
	}
	return path, nil
}

// bracket reads [*], [0] or ["name"].
func bracket(text string) (step part, rest string, err error) {
	if strings.HasPrefix(text, `["`) {
		quoted, err := strconv.QuotedPrefix(text[1:])
		if err != nil || !strings.HasPrefix(text[1+len(quoted):], "]") {
			return step, "", errors.New(`[" is never closed by "]`)
		}
		name, err := strconv.Unquote(quoted)
		return part{name: name}, text[len(quoted)+2:], err
	}
	inner, rest, closed := strings.Cut(text[1:], "]")
	if !closed {
		return step, "", errors.New("[ is never closed by ]")
	}
	if inner == "*" {
		return part{kind: allItems}, rest, nil
	}
	index, err := strconv.Atoi(inner)
	if err != nil || index < 0 {
		return step, "", fmt.Errorf(`[%s] is neither [*] nor a number from 0; a name is written ["name"]`, inner)
	}
	return part{kind: byIndex, index: index}, rest, nil
}

// Format writes a path of names (string) and places in lists (int) as Parse reads it.
func Format(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		case string:
			switch {
			case step == "" || strings.ContainsAny(step, `.[]"`):
				fmt.Fprintf(&b, "[%q]", step)
			case b.Len() > 0:
				b.WriteString("." + step)
			default:
				b.WriteString(step)
			}
		}
	}
	return b.String()
}

// Covers reports whether the path leads to a place, or to a value that contains it.
func (p Path) Covers(place []any) bool {
	if len(place) < len(p) {
		return false
	}
	for i, step := range p {
		index, isIndex := place[i].(int)
		name, isName := place[i].(string)
		switch {
		case step.kind == byName && isName && step.name == name:
		case step.kind == byIndex && isIndex && step.index == index:
		case step.kind == allItems && (isIndex || name == "-"):
		default:
			return false
		}
	}
	return true
}

// Place is a value in an object, and the path that leads only to it.
type Place struct {
	Path  string
	Value any
}

// Places returns the values at the path in an object. [*] matches all items, in their order. If a field is missing,
// there are no values.
func (p Path) Places(object map[string]any) []Place {
	places := []Place{{Value: object}}
	for _, step := range p {
		var next []Place
		for _, place := range places {
			next = append(next, step.of(place)...)
		}
		places = next
	}
	return places
}

func (s part) of(place Place) []Place {
	switch value := place.Value.(type) {
	case map[string]any:
		if inner, there := value[s.name]; s.kind == byName && there {
			return []Place{{place.Path + s.text(place.Path == ""), inner}}
		}
	case []any:
		var items []Place
		for i, item := range value {
			if s.kind == allItems || s.kind == byIndex && s.index == i {
				items = append(items, Place{fmt.Sprintf("%s[%d]", place.Path, i), item})
			}
		}
		return items
	}
	return nil
}

// text is a name as a part of a path.
func (s part) text(first bool) string {
	switch {
	case strings.ContainsAny(s.name, `.["`):
		return "[" + strconv.Quote(s.name) + "]"
	case first:
		return s.name
	default:
		return "." + s.name
	}
}
