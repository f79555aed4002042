package matching

import (
	"fmt"
	"strings"
)

// Doubtful returns a reason why an object that differs may mean what is wanted all the same. It returns "" if one of
// the differences is certain. A test that demands that nothing matches must not pass because of a doubtful one:
//
//   - 0, false or "" is wanted, and the field is absent: an API may omit such a value. A label or an annotation is
//     never omitted.
//   - The values are written alike, but their types differ: 2 and "2".
//   - The field is a list, and no list is wanted.
//
// A wanted element that no element of a list matches is doubtful if it differs from one of them only in such a way.
func Doubtful(found []Mismatch) string {
	reason := ""
	for _, m := range found {
		if reason = m.doubtful(); reason == "" {
			return ""
		}
	}
	return reason
}

func (m Mismatch) doubtful() string {
	want, got := plain(m.Want), plain(m.Got)
	_, wantsList := want.([]any)
	_, isList := got.([]any)
	switch {
	case got == nil && (want == false || want == "" || isZero(want)):
		if strings.HasPrefix(m.Path, "metadata.labels") || strings.HasPrefix(m.Path, "metadata.annotations") {
			return ""
		}
		return fmt.Sprintf("%s is absent, and an API may omit the value %#v; ask for both with cel: !has(x) || x == %#v",
			m.Path, want, want)
	case m.Missing && isList:
		return doubtfulElement(m.Path, m.Want, got.([]any))
	case m.Missing || want == nil || got == nil:
		return ""
	case isList && !wantsList:
		return m.Path + " is a list, and match does not have a list there"
	case !isList && !wantsList && !isMap(want) && !isMap(got) && fmt.Sprint(want) == fmt.Sprint(got):
		return fmt.Sprintf("%s is %#v, and match has a value of another type: %#v", m.Path, got, want)
	}
	return ""
}

// doubtfulElement returns a reason why one of the elements may mean the wanted one.
func doubtfulElement(path string, want any, among []any) string {
	for _, element := range among {
		var m matcher
		m.value(path, want, element)
		if reason := Doubtful(m.found); reason != "" {
			return reason
		}
	}
	return ""
}

func isZero(value any) bool { n := number(value); return n != nil && n.Sign() == 0 }

func isMap(value any) bool { _, is := value.(map[string]any); return is }
