package matching

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxDifferences is how many differences the text lists.
const maxDifferences = 20

// Diff explains to a person how got differs from want, with a line for each field; "" if it matches. It shows nothing
// that is not wanted.
func Diff(want, got any) string { return Lines(Differences(want, got)) }

// Differences explains how got differs from want: each is one line.
func Differences(want, got any) []string {
	var lines []string
	for _, mismatch := range Match(want, got) {
		for _, field := range mismatch.fields() {
			lines = append(lines, field.String())
		}
	}
	return lines
}

// Lines is a text with the first of the differences; "" if there are none.
func Lines(lines []string) string {
	if more := len(lines) - maxDifferences; more > 0 {
		lines = append(slices.Clone(lines[:maxDifferences]), fmt.Sprintf("... and %d more differences", more))
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// String describes in one line what was wanted and what is there.
func (m Mismatch) String() string {
	path := m.Path
	if path == "" {
		path = "(the whole)"
	}
	want, got := inline(m.Want), inline(m.Got)
	switch {
	case m.Want == nil:
		return fmt.Sprintf("%s: must be absent, is %s", path, short(got))
	case m.Missing && m.Got != nil:
		return fmt.Sprintf("%s: wanted %s, not in %s", path, short(want), short(got))
	case m.Missing:
		return fmt.Sprintf("%s: wanted %s, not there", path, short(want))
	default:
		want, got = cutAlike(want, got)
		return fmt.Sprintf("%s: wanted %s, is %s", path, want, got)
	}
}

// fields splits a missing map into its wanted fields.
func (m Mismatch) fields() []Mismatch {
	want, isMap := plain(m.Want).(map[string]any)
	if !m.Missing || m.Got != nil || !isMap || len(want) == 0 {
		return []Mismatch{m}
	}
	var all []Mismatch
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if !contentWithNothing(want[key]) {
			all = append(all, Mismatch{Path: join(m.Path, key), Want: want[key], Missing: true}.fields()...)
		}
	}
	if len(all) == 0 {
		return []Mismatch{m} // none of the fields is required on its own
	}
	return all
}

// inline formats a value for a sentence.
func inline(v any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(text.String())
}

func short(text string) string { return cutMiddle([]rune(text), 0, 0) }
