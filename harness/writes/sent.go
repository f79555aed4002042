package writes

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/fieldpath"
)

// compareSent returns the problems with what was sent and is not in the returned object. The note lists what the API
// server is meant to ignore.
func (w *Writer) compareSent(op *operation, step *scenarios.Step, a answer) (problems []string, note string) {
	if op.sent == nil || a.object == nil || a.object.GetKind() == "Status" ||
		step.FieldValidation == scenarios.IgnoreFields {
		return nil, ""
	}
	expected, err := expectedDrops(step)
	if err != nil {
		return []string{err.Error()}, ""
	}
	sent := op.sent(a.object.Object)
	lost := lostOf(sent, a.object.Object)
	gone := map[string]bool{}
	for _, d := range lost {
		for _, leaf := range d.leaves() {
			gone[fieldpath.Format(leaf)] = true
		}
	}
	var ignored []string
	for _, d := range lost {
		for _, path := range undeclared(d, expected) {
			text := fieldpath.Format(path)
			if op.ignores(path) {
				ignored = append(ignored, text)
				continue
			}
			problems = append(problems, fmt.Sprintf("%s was dropped: it was sent, but the returned object lacks it%s",
				text, w.blame(op, path)))
		}
	}
	for i, path := range expected {
		if problem := notDropped(path, sent, gone); problem != "" {
			problems = append(problems, fmt.Sprintf("%s was expected to be dropped, but %s", step.Expect.Dropped[i], problem))
		}
	}
	if path := useless(op, sent, a.object.Object); path != "" && len(expected) == 0 {
		advice := "set subresource: status to write the status"
		if op.subresource != "" {
			advice = "omit subresource to write anything but the status"
		}
		problems = append(problems, fmt.Sprintf("%s was not stored, and nothing else was sent; %s, or "+
			"fieldValidation: Ignore if it is meant to be ignored", path, advice))
	}
	if len(ignored) > 0 {
		note = fmt.Sprintf("\nnot stored by this request, as the API has it: %s", strings.Join(ignored, ", "))
	}
	return problems, note
}

func expectedDrops(step *scenarios.Step) ([]fieldpath.Path, error) {
	if step.Expect == nil {
		return nil, nil
	}
	var paths []fieldpath.Path
	for _, text := range step.Expect.Dropped {
		path, err := fieldpath.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("dropped: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// undeclared returns the paths of what was unexpectedly dropped: the whole, if none of it was expected to be dropped.
func undeclared(d Dropped, expected []fieldpath.Path) [][]any {
	var left [][]any
	leaves := d.leaves()
	for _, leaf := range leaves {
		if !covered(leaf, expected) {
			left = append(left, leaf)
		}
	}
	if len(left) == len(leaves) {
		return [][]any{d.Path}
	}
	return left
}

func covered(place []any, paths []fieldpath.Path) bool {
	for _, path := range paths {
		if path.Covers(place) {
			return true
		}
	}
	return false
}

// notDropped returns why a field that was expected to be dropped was not.
func notDropped(path fieldpath.Path, sent []piece, gone map[string]bool) string {
	found := false
	for _, p := range sent {
		for _, leaf := range p.leaves() {
			if !path.Covers(leaf) {
				continue
			}
			found = true
			if text := fieldpath.Format(leaf); !gone[text] {
				return text + " is in the returned object"
			}
		}
	}
	if !found {
		return "it was not sent, or had no value"
	}
	return ""
}

// ignores reports whether the API server is meant to ignore the path: status is written only through its subresource,
// which writes nothing else.
func (o *operation) ignores(path []any) bool {
	if len(path) == 0 {
		return false
	}
	switch o.subresource {
	case "":
		return path[0] == "status"
	case "status":
		return path[0] != "status"
	}
	return false
}

// useless returns a path that a patch sets, if the API server ignores all that the patch touches, and has stored none
// of it. Otherwise it returns "".
func useless(o *operation, sent []piece, got map[string]any) string {
	first := ""
	if slices.ContainsFunc(o.patched, func(field string) bool { return !o.ignores([]any{field}) }) || len(o.patched) == 0 {
		return ""
	}
	for _, p := range sent {
		for _, leaf := range p.leaves() {
			if reflect.DeepEqual(valueAt(p.Value, leaf[len(p.Path):]), valueAt(got, leaf)) {
				return ""
			}
			first = cmp.Or(first, fieldpath.Format(leaf))
		}
	}
	return first
}

// valueAt returns the value at a path of names and indexes, or nil.
func valueAt(value any, path []any) any {
	for _, step := range path {
		switch container := value.(type) {
		case map[string]any:
			value = container[fmt.Sprint(step)]
		case []any:
			i, isIndex := step.(int)
			if !isIndex {
				return nil
			}
			value = at(container, i)
		default:
			return nil
		}
	}
	return value
}

// blame names the feature gate or version that is the likely reason.
func (w *Writer) blame(op *operation, path []any) string {
	if w.Blame == nil {
		return ""
	}
	return orNothing(": ", w.Blame(op.gvk, path))
}
