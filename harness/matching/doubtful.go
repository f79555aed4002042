package matching

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Doubtful returns a reason why an object that differs may mean what is wanted all the same. It returns "" if one of
// the differences is certain. A test that demands that nothing matches must not pass because of a doubtful one:
//
//   - 0, false or "" is wanted, and the field is absent: an API may omit such a value. A label or an annotation is
//     never omitted.
//   - The values are written alike, but their types differ: 2 and "2".
//   - The values are equal quantities that are written differently: "0.5" and "500m".
//   - The field is a list, and no list is wanted.
//
// A wanted element that no element of a list matches is doubtful if it differs from one of them only in such a way.
func Doubtful(found []Mismatch) string {
	reason := ""
	for _, m := range found {
		if m.of != nil {
			reason = doubtfulElement(m.of.path, m.of.want, m.of.among)
		} else {
			reason = m.doubtful()
		}
		if reason == "" {
			return ""
		}
	}
	return reason
}

func (m Mismatch) doubtful() string {
	want, got := plain(m.Want), plain(m.Got)
	_, wantsList := want.([]any)
	_, isList := got.([]any)
	isLabel := strings.HasPrefix(m.Path, "metadata.labels") || strings.HasPrefix(m.Path, "metadata.annotations")
	isText := strings.HasPrefix(m.Path, "data") || strings.Contains(m.Path, "metadata.")
	switch {
	case got == nil && (want == false || want == "" || isZero(want)):
		if isLabel {
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
	case !isText && equalQuantities(want, got):
		return fmt.Sprintf("%s is %#v, and match has the same quantity, written differently: %#v", m.Path, got, want)
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

// equalQuantities reports whether two different values are the same quantity, which the API server writes in its own
// way. Without a unit, two texts may be versions.
func equalQuantities(want, got any) bool {
	one, isText1 := want.(string)
	other, isText2 := got.(string)
	if !isText1 && !isText2 {
		return false // the API server writes quantities as texts
	}
	if !isText1 {
		one = fmt.Sprint(want)
	}
	if !isText2 {
		other = fmt.Sprint(got)
	}
	a, err1 := resource.ParseQuantity(one)
	b, err2 := resource.ParseQuantity(other)
	units := strings.Trim(one+other, "0123456789.+-")
	return err1 == nil && err2 == nil && a.Cmp(b) == 0 && (units != "" || !isText1 || !isText2)
}

func isZero(value any) bool { n := number(value); return n != nil && n.Sign() == 0 }

func isMap(value any) bool { _, is := value.(map[string]any); return is }
