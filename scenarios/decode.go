package scenarios

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// scalarUnmarshaler is a type that can also be written as a single scalar.
type scalarUnmarshaler interface {
	UnmarshalScalar(text string) error
}

// decoder puts nodes into the Go types, strictly: what has no place there is an error.
type decoder struct {
	found *problems
	// table is read by us alone: there it does not matter what kubectl would make of a value.
	table bool
}

func (d *decoder) decode(n *node, v reflect.Value) {
	if n.broken {
		return
	}
	if v.Kind() == reflect.Pointer {
		if d.missing(n, v.Type().Elem()) {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		d.decode(n, v.Elem())
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
	if unmarshaler, ok := v.Addr().Interface().(scalarUnmarshaler); ok && n.kind == scalar {
		if err := unmarshaler.UnmarshalScalar(n.text); err != nil {
			d.found.at(n, "", "%v", err)
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

// missing reports a value that is not there: "key:" and no more.
func (d *decoder) missing(n *node, t reflect.Type) bool {
	if n.kind == scalar && n.tag == tagNull {
		d.found.at(n, "", "want %s, but there is nothing", wanted(t))
		return true
	}
	return false
}

func (d *decoder) structure(n *node, v reflect.Value) {
	if n.kind != mapping {
		d.mismatch(n, v.Type())
		return
	}
	fields := fieldsOf(v.Type())
	for _, e := range n.entries {
		f, ok := fieldNamed(fields, e.key.text)
		if !ok {
			d.unknown(e.key, fields, v.Type())
			continue
		}
		d.decode(e.value, v.FieldByIndex(f.index))
	}
	for _, f := range fields {
		if f.required && n.get(f.name) == nil {
			d.found.at(n, "", "the field %q is missing", f.name)
		}
	}
}

func (d *decoder) unknown(key *node, fields []field, t reflect.Type) {
	if t == reflect.TypeFor[Step]() {
		d.found.at(key, suggest(key.text, fieldNames(fields), "verbs and fields of a step"),
			"no verb or field of a step is called %q", short(key.text))
		return
	}
	if t == reflect.TypeFor[Transition]() && key.text == "controlPlanes" {
		d.found.at(key, "say it in spec.cluster, where the cluster begins",
			"a cluster keeps the number of its control planes")
		return
	}
	if strings.ContainsAny(key.text, "()[]{}=<>&|") {
		d.found.at(key, quoteCEL, "%q is no field but a part of an expression", short(key.text))
		return
	}
	d.found.at(key, suggest(key.text, fieldNames(fields), "fields here"), "unknown field %q", short(key.text))
}

func (d *decoder) mapping(n *node, v reflect.Value) {
	if n.kind != mapping {
		d.mismatch(n, v.Type())
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(n.entries)))
	element := v.Type().Elem()
	for _, e := range n.entries {
		value := reflect.New(element).Elem()
		// A null removes what is under the key (a JSON merge patch), where the type has a place for it.
		if !(element.Kind() == reflect.Pointer && e.value.kind == scalar && e.value.tag == tagNull) {
			d.decode(e.value, value)
		}
		v.SetMapIndex(reflect.ValueOf(e.key.text).Convert(v.Type().Key()), value)
	}
}

func (d *decoder) list(n *node, v reflect.Value) {
	if n.kind != sequence {
		d.mismatch(n, v.Type())
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.items), len(n.items)))
	for i, item := range n.items {
		d.decode(item, v.Index(i))
	}
}

func (d *decoder) scalar(n *node, v reflect.Value) {
	if n.kind != scalar {
		d.mismatch(n, v.Type())
		return
	}
	switch v.Kind() {
	case reflect.String:
		if n.tag != tagString {
			d.mismatch(n, v.Type())
			return
		}
		v.SetString(n.text)
	case reflect.Bool:
		if n.tag != tagBool {
			d.mismatch(n, v.Type())
			return
		}
		v.SetBool(strings.EqualFold(n.text, "true"))
	default:
		d.number(n, v)
	}
}

func (d *decoder) number(n *node, v reflect.Value) {
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

func (d *decoder) mismatch(n *node, t reflect.Type) {
	hint := ""
	if n.kind == scalar && n.tag != tagString && t.Kind() == reflect.String {
		hint = fmt.Sprintf("put it in quotes: %q", n.text)
		if n.literal {
			hint = "put it in quotes in the table"
		}
		if n.tag == tagFloat {
			hint += " (YAML reads a bare 1.30 as the number 1.3)"
		}
	}
	d.found.at(n, hint, "want %s, not %s", wanted(t), n.what())
}

// wanted names a type for a person.
func wanted(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Duration]():
		return "a length of time such as 5s"
	case reflect.TypeFor[Count]():
		return "a number, \"all\", or {min: 1, max: 3}"
	case reflect.TypeFor[Text]():
		return "a text, or {contains, equals, matches}"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Struct, reflect.Map:
		return "a mapping"
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// generic makes the plain value that JSON would have: map[string]any, []any, string, int64, float64, bool or nil.
func (d *decoder) generic(n *node) (any, bool) {
	switch n.kind {
	case mapping:
		m := make(map[string]any, len(n.entries))
		for _, e := range n.entries {
			m[e.key.text], _ = d.generic(e.value)
		}
		return m, true
	case sequence:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i], _ = d.generic(item)
		}
		return list, true
	}
	switch n.tag {
	case tagNull:
		return nil, true
	case tagBool:
		return strings.EqualFold(n.text, "true"), true
	case tagInt, tagFloat:
		value, ok := number(n)
		if !ok {
			d.found.at(n, "put it in quotes if it is a text", "%s is no 64-bit integer and no finite number", n.what())
		}
		return value, ok
	}
	if n.plain && !d.table && ambiguous(n.text) {
		d.found.at(n, fmt.Sprintf("write %q in quotes if it is a text, else true or false", n.text),
			"kubectl reads %s as a boolean, other readers as a text", n.text)
	}
	return n.text, true
}

// ambiguous says whether YAML 1.1, which kubectl reads, has a boolean where YAML 1.2 has a text.
func ambiguous(text string) bool {
	switch text {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return true
	}
	return false
}

// number reads an int64 or a finite float64.
func number(n *node) (any, bool) {
	if n.kind != scalar || n.tag != tagInt && n.tag != tagFloat {
		return nil, false
	}
	if octal := strings.HasPrefix(strings.TrimLeft(n.text, "+-"), "0"); n.tag == tagInt && !octal {
		if i, err := strconv.ParseInt(n.text, 10, 64); err == nil {
			return i, true
		}
	}
	var value any
	if err := (&yaml.Node{Kind: yaml.ScalarNode, Tag: n.tag, Value: n.text}).Decode(&value); err != nil {
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
