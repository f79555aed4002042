package matching

import (
	"encoding/json"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Normal returns an object without fields that mean the same as absent fields. Two objects are the same if their
// normal forms are equal:
//
//   - A null is an absent field, in every kind.
//   - In Kubernetes' own kinds an empty map or list is an absent field if the Go type of the kind does not distinguish
//     them: labels: {}, resources: {}, args: []. Other types, such as pointers, distinguish them: emptyDir: {} is the
//     type of a volume, and podSelector: {} of a peer selects all pods.
//   - In a custom resource an empty map or list may have a meaning, so it is not the same as an absent field.
//
// An element of a list, an entry of a map (labels, data), false, 0, "", and a field that another version sets by
// default are never absent.
func Normal(object map[string]any) map[string]any { return normalFields(object, goType(object)) }

// goType returns the Go type of one of Kubernetes' own kinds, or nil.
func goType(object map[string]any) reflect.Type {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	typed, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(apiVersion, kind))
	if err != nil {
		return nil
	}
	return reflect.TypeOf(typed).Elem()
}

// normalFields removes from a map what means absent. The type is nil if unknown.
func normalFields(fields map[string]any, of reflect.Type) map[string]any {
	normal := make(map[string]any, len(fields))
	for key, value := range fields {
		inner, isField := fieldType(of, key)
		value = normalValue(value, inner)
		if value == nil || isField && meansAbsent(value, inner) {
			continue
		}
		normal[key] = value
	}
	return normal
}

func normalValue(value any, of reflect.Type) any {
	for of != nil && of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch value := plain(value).(type) {
	case map[string]any:
		return normalFields(value, of)
	case []any:
		var element reflect.Type
		if of != nil && of.Kind() == reflect.Slice {
			element = of.Elem()
		}
		normal := make([]any, len(value))
		for i := range value {
			normal[i] = normalValue(value[i], element)
		}
		return normal
	default:
		return value
	}
}

// meansAbsent reports whether a field's value is empty, and Go decodes it like an absent field.
func meansAbsent(value any, of reflect.Type) bool {
	if reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return false // it has its own decoder, which keeps the value
	}
	switch value := value.(type) {
	case map[string]any:
		return len(value) == 0 && (of.Kind() == reflect.Struct || of.Kind() == reflect.Map)
	case []any:
		return len(value) == 0 && of.Kind() == reflect.Slice
	}
	return false
}

// fieldType returns the type of a key's value (nil if unknown), and whether the key is a field of a struct.
func fieldType(of reflect.Type, key string) (inner reflect.Type, isField bool) {
	switch {
	case of == nil:
		return nil, false
	case of.Kind() == reflect.Map:
		return of.Elem(), false
	case of.Kind() != reflect.Struct:
		return nil, false
	}
	for i := range of.NumField() {
		field := of.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && (field.Anonymous || strings.Contains(options, "inline")) {
			if inner, isField = fieldType(field.Type, key); isField {
				return inner, true
			}
		} else if name == key {
			return field.Type, true
		}
	}
	return nil, false
}
