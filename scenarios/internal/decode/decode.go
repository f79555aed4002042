// Package decode decodes YAML strictly into Go types.
package decode

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"
	kubectl "sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/scenarios/internal/tags"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// scalarUnmarshaler is a type that can also be written as a single scalar.
type scalarUnmarshaler interface {
	UnmarshalScalar(text string) error
}

// Language describes the types of a language in its own words, for messages.
type Language struct {
	// Wanted describes types that can also be written as a scalar.
	Wanted map[reflect.Type]string
	// Unknown returns what is wrong with a key that is not a field of a type; "" for the default message.
	Unknown func(t reflect.Type, key string, fields []string) (message, hint string)
}

// Decoder decodes nodes into Go types, strictly: a value that has no place there is an error.
type Decoder struct {
	Found *yamltree.Problems
	// Language of the types.
	Language Language
	// Table: the value is in a table, which kubectl does not read, so values that it reads differently are allowed.
	Table bool
}

// Decode decodes a node into a value, and reports what does not fit.
func (d *Decoder) Decode(n *yamltree.Node, v reflect.Value) {
	if n.Broken {
		return
	}
	if v.Kind() == reflect.Pointer {
		if d.missing(n, v.Type().Elem()) {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		d.Decode(n, v.Elem())
		return
	}
	if v.Kind() == reflect.Interface {
		if value, ok := d.generic(n); ok && value != nil {
			v.Set(reflect.ValueOf(value))
		}
		return
	}
	if d.missing(n, v.Type()) {
		return
	}
	if unmarshaler, ok := v.Addr().Interface().(scalarUnmarshaler); ok && n.Kind == yamltree.Scalar {
		if err := unmarshaler.UnmarshalScalar(n.Text); err != nil {
			d.Found.At(n, "", "%v", err)
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.structure(n, v)
	case reflect.Map:
		d.mapping(n, v)
	case reflect.Slice:
		d.list(n, v)
	default:
		d.scalar(n, v)
	}
}

// missing reports an error if there is no value: "key:" and nothing else.
func (d *Decoder) missing(n *yamltree.Node, t reflect.Type) bool {
	if n.Kind == yamltree.Scalar && n.Tag == yamltree.TagNull {
		d.Found.At(n, "", "want %s, but it is empty", d.wanted(t))
		return true
	}
	return false
}

func (d *Decoder) structure(n *yamltree.Node, v reflect.Value) {
	if n.Kind != yamltree.Mapping {
		d.mismatch(n, v.Type())
		return
	}
	fields := tags.Of(v.Type())
	for _, e := range n.Entries {
		f, ok := tags.Named(fields, e.Key.Text)
		if !ok {
			d.unknown(e.Key, fields, v.Type())
			continue
		}
		d.Decode(e.Value, v.FieldByIndex(f.Index))
	}
	for _, f := range fields {
		if f.Required && n.Get(f.Name) == nil {
			d.Found.At(n, "", "the field %q is missing", f.Name)
		}
	}
}

func (d *Decoder) unknown(key *yamltree.Node, fields []tags.Field, t reflect.Type) {
	if d.Language.Unknown != nil {
		if message, hint := d.Language.Unknown(t, key.Text, tags.Names(fields)); message != "" {
			d.Found.At(key, hint, "%s", message)
			return
		}
	}
	if strings.ContainsAny(key.Text, "()[]{}=<>&|") {
		d.Found.At(key, yamltree.QuoteCEL, "%q is not a field but part of an expression", words.Short(key.Text))
		return
	}
	d.Found.At(key, words.Suggest(key.Text, tags.Names(fields), "fields here"), "unknown field %q", words.Short(key.Text))
}

func (d *Decoder) mapping(n *yamltree.Node, v reflect.Value) {
	if n.Kind != yamltree.Mapping {
		d.mismatch(n, v.Type())
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(n.Entries)))
	element := v.Type().Elem()
	for _, e := range n.Entries {
		value := reflect.New(element).Elem()
		// A null deletes the key (as in a JSON merge patch), if the type allows that.
		if !(element.Kind() == reflect.Pointer && e.Value.Kind == yamltree.Scalar && e.Value.Tag == yamltree.TagNull) {
			d.Decode(e.Value, value)
		}
		if element.Kind() == reflect.Interface {
			d.key(e.Key)
		}
		v.SetMapIndex(reflect.ValueOf(e.Key.Text).Convert(v.Type().Key()), value)
	}
}

func (d *Decoder) list(n *yamltree.Node, v reflect.Value) {
	if n.Kind != yamltree.Sequence {
		d.mismatch(n, v.Type())
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
	for i, item := range n.Items {
		d.Decode(item, v.Index(i))
	}
}

func (d *Decoder) scalar(n *yamltree.Node, v reflect.Value) {
	if n.Kind != yamltree.Scalar {
		d.mismatch(n, v.Type())
		return
	}
	switch v.Kind() {
	case reflect.String:
		if n.Tag != yamltree.TagString {
			d.mismatch(n, v.Type())
			return
		}
		v.SetString(n.Text)
	case reflect.Bool:
		if n.Tag != yamltree.TagBool {
			d.mismatch(n, v.Type())
			return
		}
		v.SetBool(strings.EqualFold(n.Text, "true"))
	default:
		d.number(n, v)
	}
}

func (d *Decoder) number(n *yamltree.Node, v reflect.Value) {
	value, ok := number(n)
	if !ok {
		d.mismatch(n, v.Type())
		return
	}
	if v.Kind() == reflect.Float64 {
		if i, isInt := value.(int64); isInt {
			value = float64(i)
		}
		v.SetFloat(value.(float64))
		return
	}
	i, isInt := value.(int64)
	if !isInt || v.OverflowInt(i) {
		d.mismatch(n, v.Type())
		return
	}
	v.SetInt(i)
}

func (d *Decoder) mismatch(n *yamltree.Node, t reflect.Type) {
	hint := ""
	if n.Kind == yamltree.Scalar && n.Tag != yamltree.TagString && t.Kind() == reflect.String {
		hint = fmt.Sprintf("put it in quotes: %q", n.Text)
		if n.Literal {
			hint = "put it in quotes in the table"
		}
		if n.Tag == yamltree.TagFloat {
			hint += " (YAML reads an unquoted 1.30 as the number 1.3)"
		}
	}
	d.Found.At(n, hint, "want %s, not %s", d.wanted(t), n.What())
}

// wanted describes a type in messages.
func (d *Decoder) wanted(t reflect.Type) string {
	if words, ok := d.Language.Wanted[t]; ok {
		return words
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.wanted(t.Elem())
	case reflect.Struct, reflect.Map:
		return "a mapping"
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	}
	return "an integer"
}

// generic returns the value as JSON would have it: map[string]any, []any, string, int64, float64, bool or nil.
func (d *Decoder) generic(n *yamltree.Node) (any, bool) {
	switch n.Kind {
	case yamltree.Mapping:
		m := make(map[string]any, len(n.Entries))
		for _, e := range n.Entries {
			d.key(e.Key)
			m[e.Key.Text], _ = d.generic(e.Value)
		}
		return m, true
	case yamltree.Sequence:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i], _ = d.generic(item)
		}
		return list, true
	}
	switch n.Tag {
	case yamltree.TagNull:
		return nil, true
	case yamltree.TagBool:
		return strings.EqualFold(n.Text, "true"), true
	case yamltree.TagInt, yamltree.TagFloat:
		value, ok := number(n)
		if !ok {
			d.Found.At(n, "put it in quotes if it is a string", "%s is neither a 64-bit integer nor a finite number",
				n.What())
		}
		return value, ok
	}
	if n.Plain && !d.Table && ambiguous(n.Text) {
		d.Found.At(n, fmt.Sprintf("write %q in quotes if it is a string, otherwise true or false", n.Text),
			"kubectl reads %s as a boolean, other readers as a string", n.Text)
	}
	return n.Text, true
}

// ambiguous reports whether a text is a boolean in YAML 1.1, which kubectl reads, but a string in YAML 1.2.
func ambiguous(text string) bool {
	switch text {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return true
	}
	return false
}

// key checks that kubectl reads the key of an object as it is written. Like YAML 1.1, it reads on as true. The names n
// and y are common, and so they are not checked.
func (d *Decoder) key(n *yamltree.Node) {
	odd := len(n.Text) > 1 && (ambiguous(n.Text) || strings.Contains(".+-0123456789tTfF", n.Text[:1]))
	if !odd || !n.Plain || d.Table {
		return
	}
	var read map[string]any
	if err := kubectl.Unmarshal([]byte(n.Text+": 1"), &read); err != nil {
		return
	}
	for key := range read {
		if key != n.Text {
			d.Found.At(n, fmt.Sprintf("write %q in quotes", n.Text), "kubectl reads the key %s as %q, other readers as a string",
				n.Text, key)
		}
	}
}

// number reads an int64 or a finite float64.
func number(n *yamltree.Node) (any, bool) {
	if n.Kind != yamltree.Scalar || n.Tag != yamltree.TagInt && n.Tag != yamltree.TagFloat {
		return nil, false
	}
	if octal := strings.HasPrefix(strings.TrimLeft(n.Text, "+-"), "0"); n.Tag == yamltree.TagInt && !octal {
		if i, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
			return i, true
		}
	}
	var value any
	if err := (&yaml.Node{Kind: yaml.ScalarNode, Tag: n.Tag, Value: n.Text}).Decode(&value); err != nil {
		return nil, false
	}
	switch value := value.(type) {
	case int:
		return int64(value), true
	case int64:
		return value, true
	case float64:
		return value, !math.IsInf(value, 0) && !math.IsNaN(value)
	}
	return nil, false
}
