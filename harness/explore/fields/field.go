// Package fields reads the fields of a cluster's kinds, as trees, from the OpenAPI documents of its API server.
package fields

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/openapi"
)

// Type of a field's value.
type Type string

// The types.
const (
	Object   Type = "object"
	List     Type = "list"
	Map      Type = "map"
	String   Type = "string"
	Integer  Type = "integer"
	Number   Type = "number"
	Boolean  Type = "boolean"
	Quantity Type = "quantity"
	Time     Type = "time"
	Duration Type = "duration"
	Bytes    Type = "bytes"
	// Either is a number or a string (IntOrString).
	Either Type = "integer or string"
	// Anything has no schema.
	Anything Type = "anything"
)

// Item and Value are the steps of a path into the items of a list and the values of a map.
const (
	Item  = "[]"
	Value = "{}"
)

// Field is one field of a kind, with its children.
type Field struct {
	// Path from the object's root, such as spec.rules[].host.
	Path Path
	Type Type
	// Format of a number or string in OpenAPI, such as int32.
	Format string
	// Enum are the values that the schema allows.
	Enum []string
	// Required says that the parent must have the field.
	Required bool
	// Description is the documentation of the field.
	Description string
	// Owner is the definition of the field's parent and the field's name. Fields with the same owner in several kinds are
	// the same field.
	Owner string
	// Definition is the name of an object's definition; "" if it is defined inline.
	Definition string
	// Minimum of a number; nil if it has none.
	Minimum *float64
	Parent  *Field
	// Children of the field. The only child of a list or a map is named Item or Value.
	Children []*Field
}

// Name is the last step of the path.
func (f *Field) Name() string {
	if len(f.Path) == 0 {
		return ""
	}
	return f.Path[len(f.Path)-1]
}

// Child returns the child of that name; nil if there is none.
func (f *Field) Child(name string) *Field {
	for _, child := range f.Children {
		if child.Name() == name {
			return child
		}
	}
	return nil
}

// Scalar reports whether the field's value has no fields.
func (f *Field) Scalar() bool { return f.Type != Object && f.Type != List && f.Type != Map }

// All are the fields below this one. A field comes before its children.
func (f *Field) All() []*Field {
	var all []*Field
	for _, child := range f.Children {
		all = append(append(all, child), child.All()...)
	}
	return all
}

// deepest is the maximum depth of fields, because a schema may contain itself.
const deepest = 24

// recurs is the only field below which a definition may contain itself once more: the properties of a schema show all
// that a schema can contain.
const recurs = "properties"

// reader builds the trees.
type reader struct {
	document openapi.Document
	// above are the definitions that contain the current one.
	above map[string]int
}

// tree is the field of a definition, with everything below it.
func tree(d openapi.Document, name string, root *openapi.Schema) *Field {
	r := reader{document: d, above: map[string]int{}}
	f := &Field{Type: Object, Owner: name}
	r.fill(f, name, root)
	return f
}

// field is a property; nil if its definition already contains itself.
func (r *reader) field(parent *Field, step string, of *openapi.Schema, owner string) *Field {
	if of == nil {
		return nil
	}
	name, at := r.resolved(of)
	if name != "" && r.above[name] > 0 && (r.above[name] > 1 || parent.Name() != recurs) || len(parent.Path) > deepest {
		return nil
	}
	f := &Field{
		Path: append(slices.Clone(parent.Path), step), Parent: parent, Owner: owner, Format: at.Format,
		Description: of.Description, Minimum: at.Minimum,
	}
	if f.Description == "" {
		f.Description = at.Description
	}
	for _, value := range append(slices.Clone(of.Enum), at.Enum...) {
		if text := fmt.Sprint(value); text != "" && !slices.Contains(f.Enum, text) {
			f.Enum = append(f.Enum, text)
		}
	}
	f.Type = typeOf(name, at)
	f.Definition = name
	r.fill(f, name, at)
	return f
}

// status is the field "status" of a definition; nil if it has none.
func status(d openapi.Document, name string, root *openapi.Schema) *Field {
	r := reader{document: d, above: map[string]int{name: 1}}
	return r.field(&Field{Type: Object}, "status", root.Properties["status"], name+".status")
}

func (r *reader) fill(f *Field, name string, at *openapi.Schema) {
	if name != "" {
		r.above[name]++
		defer func() { r.above[name]-- }()
	}
	definition := name
	if definition == "" {
		definition = f.Owner
	}
	add := func(step string, of *openapi.Schema, owner string, required bool) {
		if child := r.field(f, step, of, owner); child != nil {
			child.Required = required
			f.Children = append(f.Children, child)
		}
	}
	switch f.Type {
	case List:
		add(Item, at.Items, f.Owner+Item, true)
	case Map:
		add(Value, at.Values(), f.Owner+Value, true)
	case Object:
		for _, step := range slices.Sorted(maps.Keys(at.Properties)) {
			if wanted(name, f, step) {
				add(step, at.Properties[step], definition+"."+step, slices.Contains(at.Required, step))
			}
		}
	}
}

// wanted reports whether users set a field in a new object. They do not set the API server's own fields, or the
// status, which has its own endpoint.
func wanted(definition string, parent *Field, step string) bool {
	switch {
	case strings.HasSuffix(definition, ".ObjectMeta"):
		return step == "labels" || step == "annotations" || step == "finalizers"
	case step == "ephemeralContainers":
		return false // a subresource of Pods sets them
	case len(parent.Path) == 0:
		return step != "apiVersion" && step != "kind" && step != "status"
	}
	return true
}

func typeOf(name string, at *openapi.Schema) Type {
	switch short := name[strings.LastIndex(name, ".")+1:]; {
	case short == "Quantity":
		return Quantity
	case short == "IntOrString", at.IntOrString, at.Format == "int-or-string":
		return Either
	case short == "Time", short == "MicroTime", at.Format == "date-time":
		return Time
	case short == "Duration" && at.Type == "string":
		return Duration
	case at.Format == "byte":
		return Bytes
	}
	switch at.Type {
	case "array":
		return List
	case "string":
		return String
	case "integer":
		return Integer
	case "number":
		return Number
	case "boolean":
		return Boolean
	case "object":
		switch {
		case len(at.Properties) > 0:
			return Object
		case at.Values() != nil:
			return Map
		}
	}
	if len(at.Properties) > 0 {
		return Object
	}
	return Anything
}

// resolved follows references. The name is that of the last definition; "" if there was none.
func (r *reader) resolved(at *openapi.Schema) (name string, _ *openapi.Schema) {
	for range 10 {
		switch {
		case at == nil:
			return name, &openapi.Schema{}
		case at.Ref != "":
			name = at.Target()
			at = r.document.Definition(name)
		case len(at.Properties) == 0 && at.Type == "" && len(at.AllOf) == 1:
			at = at.AllOf[0]
		default:
			return name, at
		}
	}
	return name, &openapi.Schema{}
}
