package growth

import (
	"reflect"
	"testing"
)

func TestAnAcceptedObjectLosesWhatTheAPIServerDropped(t *testing.T) {
	object := map[string]any{
		"a": "kept", "b": "dropped", "zero": "", "list": []any{map[string]any{"c": "kept", "d": int64(1)}},
	}
	made := map[string]any{"a": "kept", "list": []any{map[string]any{"c": "kept", "e": "a default"}}}
	prune(object, made)
	want := map[string]any{"a": "kept", "zero": "", "list": []any{map[string]any{"c": "kept"}}}
	if !reflect.DeepEqual(object, want) {
		t.Errorf("%v, want %v", object, want)
	}
}
