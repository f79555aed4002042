package history

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// events reads each event of an open watch in one pass, the objects without their managedFields. client-go's own
// decoders pass over every event ten times. That is most of the cost of watching, and the watched cluster pays for
// it. The objects are the same.
type events struct {
	body   io.ReadCloser
	tokens *jsontext.Decoder
}

func newEvents(body io.ReadCloser) *events {
	return &events{body, jsontext.NewDecoder(body, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
}

// Close implements watch.Decoder.
func (e *events) Close() { _ = e.body.Close() }

// Decode implements watch.Decoder.
func (e *events) Decode() (watch.EventType, runtime.Object, error) {
	kind, object, err := e.event()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "", nil, io.ErrUnexpectedEOF // callers recognize a broken connection by exactly this error
	case err != nil:
		return "", nil, err
	case object.GetKind() == "" || object.GetAPIVersion() == "":
		return "", nil, fmt.Errorf("an event %q without an object", kind)
	}
	return watch.EventType(kind), object, nil
}

func (e *events) event() (kind string, object *unstructured.Unstructured, err error) {
	object = &unstructured.Unstructured{}
	begin, err := e.tokens.ReadToken()
	if err != nil {
		return "", nil, err
	}
	if begin.Kind() != jsontext.KindBeginObject {
		return "", nil, fmt.Errorf("a %s is no event", begin.Kind())
	}
	err = e.members(func(name string) error {
		var value any
		switch name {
		case "type":
			value, err = e.value(elsewhere)
			kind, _ = value.(string)
		case "object":
			value, err = e.value(theObject)
			object.Object, _ = value.(map[string]any)
		default:
			err = e.tokens.SkipValue()
		}
		return err
	})
	return kind, object, err
}

// place is where a value is in an object, as far as it matters.
type place int

const (
	elsewhere place = iota
	theObject
	itsMetadata
)

// value reads the next value: whole numbers as int64 if they fit, all others as float64.
func (e *events) value(at place) (any, error) {
	token, err := e.tokens.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case jsontext.KindBeginObject:
		return e.object(at)
	case jsontext.KindBeginArray:
		return e.list()
	case jsontext.KindString:
		return token.String(), nil
	case jsontext.KindNumber:
		text := token.String()
		if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
			return whole, nil
		}
		return strconv.ParseFloat(text, 64)
	case jsontext.KindTrue, jsontext.KindFalse:
		return token.Bool(), nil
	default:
		return nil, nil
	}
}

func (e *events) object(at place) (map[string]any, error) {
	object := map[string]any{}
	err := e.members(func(name string) error {
		within := elsewhere
		switch {
		case at == itsMetadata && name == "managedFields":
			return e.tokens.SkipValue()
		case at == theObject && name == "metadata":
			within = itsMetadata
		}
		value, err := e.value(within)
		object[name] = value
		return err
	})
	return object, err
}

// members calls the function with each name of an object that has begun. The function reads the value.
func (e *events) members(value func(name string) error) error {
	for {
		token, err := e.tokens.ReadToken()
		if err != nil || token.Kind() == jsontext.KindEndObject {
			return err
		}
		if err := value(token.String()); err != nil {
			return err
		}
	}
}

func (e *events) list() ([]any, error) {
	list := []any{}
	for e.tokens.PeekKind() != jsontext.KindEndArray {
		value, err := e.value(elsewhere)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err := e.tokens.ReadToken()
	return list, err
}
