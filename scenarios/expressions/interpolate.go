package expressions

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios/internal/tags"
)

// Interpolate returns a deep copy of a value with every ${...} in its texts evaluated. A text that is only one
// expression keeps the value's type; otherwise values are written into the text. $${ is a literal ${.
func (e *Evaluator) Interpolate(value any, vars Variables) (any, error) {
	in := e.interpolation(vars)
	result := in.value(value, "")
	return result, errors.Join(in.errs...)
}

// Literal returns a value as a scenario must write it so that its texts stay as they are: ${ begins an expression,
// and $${ does not.
func Literal(value any) any {
	switch v := value.(type) {
	case string:
		return Escape(v)
	case []any:
		next := make([]any, len(v))
		for i := range v {
			next[i] = Literal(v[i])
		}
		return next
	case map[string]any:
		next := map[string]any{}
		for key := range v {
			next[Escape(key)] = Literal(v[key]) // the loader removes the escapes of keys
		}
		return next
	}
	return value
}

// Evaluated returns a deep copy of a step, or of another struct of the language, with every ${...} in it evaluated.
// It does not change CEL itself (cel, outputs), what was fixed before the run (names, kinds of objects, transitions),
// and the steps of parallel, whose copies are evaluated separately.
func Evaluated[T any](e *Evaluator, value T, vars Variables) (T, error) {
	in := e.interpolation(vars)
	next := value
	in.structure(reflect.ValueOf(value), reflect.ValueOf(&next).Elem(), "")
	return next, errors.Join(in.errs...)
}

func (e *Evaluator) interpolation(vars Variables) *interpolation {
	return &interpolation{text: func(text string) (any, error) {
		parts, mistake := Split(text)
		if mistake != nil {
			return nil, mistake
		}
		return Fill(parts, func(expression string) (any, error) { return e.Eval(expression, vars) })
	}}
}

// interpolation copies values deeply, applies a function to each text, and collects the errors with their paths.
type interpolation struct {
	text func(text string) (any, error)
	errs []error
}

// verbatim copies values without changes.
func verbatim() *interpolation {
	return &interpolation{text: func(text string) (any, error) { return text, nil }}
}

// value copies a plain value. Errors are in the order of the keys.
func (in *interpolation) value(v any, path string) any {
	switch v := v.(type) {
	case string:
		value, err := in.text(v)
		if err != nil {
			in.fail(path, err)
		}
		return value
	case map[string]any:
		if v == nil {
			return v
		}
		result := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			result[key] = in.value(v[key], join(path, key))
		}
		return result
	case []any:
		if v == nil {
			return v
		}
		result := make([]any, len(v))
		for i, item := range v {
			result[i] = in.value(item, fmt.Sprintf("%s[%d]", path, i))
		}
		return result
	case bool, int64, float64, nil:
		return v
	}
	copied := reflect.New(reflect.TypeOf(v)).Elem()
	copied.Set(reflect.ValueOf(v))
	in.copy(reflect.ValueOf(v), copied, path)
	return copied.Interface()
}

// structure copies the fields of a struct that the loader knows.
func (in *interpolation) structure(source, target reflect.Value, path string) {
	for _, f := range tags.Of(source.Type()) {
		copier := in
		if f.Tags.Fixed || f.Tags.Expression != "" || f.Tags.Table || f.Tags.Copied {
			copier = verbatim()
		}
		before, failed := source.FieldByIndex(f.Index), len(in.errs)
		copier.copy(before, target.FieldByIndex(f.Index), join(path, f.Name))
		if f.Tags.Filled && !before.IsZero() && target.FieldByIndex(f.Index).IsZero() && len(in.errs) == failed {
			in.fail(join(path, f.Name), fmt.Errorf("the value of %s is empty", before))
		}
	}
}

// copy makes the target, which equals the source, a deep copy of it.
func (in *interpolation) copy(source, target reflect.Value, path string) {
	switch source.Kind() {
	case reflect.Struct:
		in.structure(source, target, path)
	case reflect.String:
		in.copyText(source, target, path)
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		if !source.IsNil() {
			in.copyReference(source, target, path)
		}
	}
}

func (in *interpolation) copyReference(source, target reflect.Value, path string) {
	switch source.Kind() {
	case reflect.Pointer:
		next := reflect.New(source.Type().Elem())
		next.Elem().Set(source.Elem())
		in.copy(source.Elem(), next.Elem(), path)
		target.Set(next)
	case reflect.Map:
		next := reflect.MakeMapWithSize(source.Type(), source.Len())
		keys := source.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			value := reflect.New(source.Type().Elem()).Elem()
			value.Set(source.MapIndex(key))
			in.copy(source.MapIndex(key), value, join(path, key.String()))
			next.SetMapIndex(key, value)
		}
		target.Set(next)
	case reflect.Slice:
		next := reflect.MakeSlice(source.Type(), source.Len(), source.Len())
		for i := range source.Len() {
			next.Index(i).Set(source.Index(i))
			in.copy(source.Index(i), next.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
		target.Set(next)
	case reflect.Interface:
		if value := in.value(source.Interface(), path); value != nil {
			target.Set(reflect.ValueOf(value))
		} else {
			target.SetZero()
		}
	}
}

// copyText sets a string in Go; a number or a boolean is written as text.
func (in *interpolation) copyText(source, target reflect.Value, path string) {
	value, err := in.text(source.String())
	if err != nil {
		in.fail(path, err)
		return
	}
	text, err := Format(value)
	if err != nil {
		in.fail(path, err)
		return
	}
	target.SetString(text)
}

func (in *interpolation) fail(path string, err error) {
	if path != "" {
		err = fmt.Errorf("%s: %w", path, err)
	}
	in.errs = append(in.errs, err)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
