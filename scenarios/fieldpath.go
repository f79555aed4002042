package scenarios

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// FieldPath leads to values in an object: metadata.uid, status.containerStatuses[*].restartCount, metadata.labels["a.b/c"].
type FieldPath []fieldStep

// fieldStep is a field by its name, an item by its number, or all items.
type fieldStep struct {
	name  string
	index int
	kind  fieldStepKind
}

type fieldStepKind int

const (
	byName fieldStepKind = iota
	byIndex
	allItems
)

// ParseFieldPath reads a path.
func ParseFieldPath(text string) (FieldPath, error) {
	var path FieldPath
	for rest := text; rest != ""; {
		var step fieldStep
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
			step, rest = fieldStep{name: rest[:end]}, rest[end:]
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
func bracket(text string) (step fieldStep, rest string, err error) {
	if strings.HasPrefix(text, `["`) {
		quoted, err := strconv.QuotedPrefix(text[1:])
		if err != nil || !strings.HasPrefix(text[1+len(quoted):], "]") {
			return step, "", errors.New(`[" is never closed by "]`)
		}
		name, err := strconv.Unquote(quoted)
		return fieldStep{name: name}, text[len(quoted)+2:], err
	}
	inner, rest, closed := strings.Cut(text[1:], "]")
	if !closed {
		return step, "", errors.New("[ is never closed by ]")
	}
	if inner == "*" {
		return fieldStep{kind: allItems}, rest, nil
	}
	index, err := strconv.Atoi(inner)
	if err != nil || index < 0 {
		return step, "", fmt.Errorf(`[%s] is neither [*] nor a number from 0; a name is written ["name"]`, inner)
	}
	return fieldStep{kind: byIndex, index: index}, rest, nil
}

// Values returns what is at the path in an object: as many values as there are items that [*] takes, in their order, and none where a field
// is missing.
func (p FieldPath) Values(object map[string]any) []any {
	values := []any{object}
	for _, step := range p {
		var next []any
		for _, value := range values {
			next = append(next, step.of(value)...)
		}
		values = next
	}
	return values
}

func (s fieldStep) of(value any) []any {
	switch value := value.(type) {
	case map[string]any:
		if inner, there := value[s.name]; s.kind == byName && there {
			return []any{inner}
		}
	case []any:
		switch {
		case s.kind == allItems:
			return value
		case s.kind == byIndex && s.index < len(value):
			return []any{value[s.index]}
		}
	}
	return nil
}
