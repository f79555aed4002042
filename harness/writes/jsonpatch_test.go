package writes

import (
	"reflect"
	"testing"
)

// A key of a map may look like a number. Only a number as JSON writes it is an index in a list.
func TestStepsOfAPointer(t *testing.T) {
	for pointer, want := range map[string][]any{
		"/data/007": {"data", "007"}, "/data/+7": {"data", "+7"}, "/data/-1": {"data", "-1"},
		"/spec/ports/7/a~1b": {"spec", "ports", 7, "a/b"}, "": nil,
	} {
		if got := steps(pointer); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, want %#v", pointer, got, want)
		}
	}
}
