package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"pgregory.net/rapid"
)

func eventsIn(r io.Reader) *events { return newEvents(io.NopCloser(r)) }

// asClientsDecode decodes an object as client-go does, without its managedFields.
func asClientsDecode(t interface{ Fatal(args ...any) }, text []byte) map[string]any {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	withoutManagedFields(object)
	return object.Object
}

func TestEventsDecodeAsClientsDecodeThem(t *testing.T) {
	for _, fields := range []string{
		`"n":[0,-0,1,-1,1e3,1E3,1.0,0.5,-0.0,9223372036854775807,9223372036854775808,-9223372036854775808,-9223372036854775809,1e300]`,
		`"text":["","é","\u00e9","\ud83d\ude00","\ud800","\u0000","\"\\\/\b\f\n\r\t","<&>"]`,
		"\"invalid\":\"a\xffb\"",
		`"twice":1,"twice":{"a":1},"twice":{"b":2}`,
		`"nothing":null,"list":[],"map":{},"in":[null,[],{},[[]]],"yes":true,"no":false`,
		`"metadata":{"name":"a","managedFields":[{"manager":"m","fieldsV1":{"f:spec":{}}}],"uid":"1"},"managedFields":[1]`,
		`"spec":{"managedFields":[1],"metadata":{"managedFields":[2]}},"metadata":{"managedFields":null,"annotations":{"managedFields":"3","metadata":"4"}}`,
		`"list":[{"metadata":{"managedFields":[1]}}],"metadata":{"metadata":{"managedFields":[2]}}`,
	} {
		object := `{"apiVersion":"v1","kind":"Pod",` + fields + `}`
		d := eventsIn(strings.NewReader(`{"type":"ADDED","object":` + object + `}`))
		kind, got, err := d.Decode()
		if err != nil || kind != watch.Added {
			t.Errorf("%s: a %q, %v", object, kind, err)
			continue
		}
		if want := asClientsDecode(t, []byte(object)); !reflect.DeepEqual(got.(*unstructured.Unstructured).Object, want) {
			t.Errorf("%s\nis  %#v\nnot %#v", object, got, want)
		}
	}
}

// Events decode to the objects that were sent, however they are formatted and split.
func TestEventsAreWhatWasSent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var stream bytes.Buffer
		var want []map[string]any
		for range rapid.IntRange(0, 5).Draw(rt, "events") {
			object := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": drawn(rt, 2), "spec": drawn(rt, 3)}
			text, err := json.MarshalIndent(map[string]any{"object": object, "other": drawn(rt, 1), "type": "MODIFIED"}, "",
				rapid.SampledFrom([]string{"", " "}).Draw(rt, "indent"))
			if err != nil {
				rt.Fatal(err)
			}
			stream.Write(text)
			stream.WriteString(rapid.SampledFrom([]string{"", "\n", " \r\n"}).Draw(rt, "end"))
			if text, err = json.Marshal(object); err != nil {
				rt.Fatal(err)
			}
			want = append(want, asClientsDecode(rt, text))
		}
		reader := io.Reader(&stream)
		if rapid.Bool().Draw(rt, "in pieces") {
			reader = iotest.OneByteReader(&stream)
		}
		d := eventsIn(reader)
		for i := range want {
			kind, got, err := d.Decode()
			if err != nil || kind != watch.Modified || !reflect.DeepEqual(got.(*unstructured.Unstructured).Object, want[i]) {
				rt.Fatalf("event %d is a %q of %v, %v; want %v", i, kind, got, err, want[i])
			}
		}
		if _, _, err := d.Decode(); !errors.Is(err, io.EOF) {
			rt.Fatalf("in the end: %v", err)
		}
	})
}

// An event is reported as soon as its last byte arrives. The next event may come much later.
func TestEventsAreToldAtOnce(t *testing.T) {
	reader, writer := io.Pipe()
	defer writer.Close()
	d := eventsIn(reader)
	for range 2 {
		go func() { _, _ = writer.Write([]byte(`{"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod"}}`)) }()
		if _, _, err := d.Decode(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEventsThatCannotBeRead(t *testing.T) {
	const whole = `{"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","spec":{"a":[1,"b"]}}}`
	for end := 1; end < len(whole); end++ {
		// client-go recognizes the end of a connection only by this exact error.
		if _, object,
			err := eventsIn(strings.NewReader(whole[:end])).Decode(); err != io.ErrUnexpectedEOF { //nolint:errorlint // it must be no other that wraps it
			t.Fatalf("broken off after %s: %v, %v", whole[:end], object, err)
		}
	}
	broken := errors.New("connection reset by peer")
	if _, _, err := eventsIn(io.MultiReader(strings.NewReader(whole[:20]),
		iotest.ErrReader(broken))).Decode(); !errors.Is(err, broken) {
		t.Errorf("%v, want the connection's error", err)
	}
	for _, text := range []string{
		`{"type":"ADDED"}`, `{"type":"ADDED","object":null}`, `{"type":"ADDED","object":[]}`, `{"type":"ADDED","object":{}}`,
		`{"type":"ADDED","object":{"kind":"Pod"}}`, `{"type":"ADDED","object":{"apiVersion":"v1"}}`,
		`{"object":{"apiVersion":"v1","kind":"Pod","n":1e999},"type":"ADDED"}`,
		`[]`, `"ADDED"`, `null`, `<html>`, `{"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod",}}`, `{"type" "ADDED"}`,
	} {
		if kind, object, err := eventsIn(strings.NewReader(text)).Decode(); err == nil {
			t.Errorf("%s is a %q of %v", text, kind, object)
		}
	}
}
