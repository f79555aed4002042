package terminal

import (
	"slices"
	"testing"
)

func TestLinesOfACell(t *testing.T) {
	for _, test := range []struct {
		text string
		room int
		want []string
	}{
		{"a name of lowercase letters", 80, []string{"a name of lowercase letters"}},
		{"a name of lowercase letters and digits", 24, []string{"a name of lowercase", "letters and digits"}},
		{"  scenario that is called so and so", 24, []string{"  scenario that is", "    called so and so"}},
		{"a-word-that-is-longer-than-the-room there", 24, []string{"a-word-that-is-longer-than-the-room", "there"}},
		{"any width is enough for what goes to a file", 0, []string{"any width is enough for what goes to a file"}},
		{"", 24, []string{""}},
	} {
		if got := wrapped(test.text, test.room); !slices.Equal(got, test.want) {
			t.Errorf("%q in %d columns: %q, want %q", test.text, test.room, got, test.want)
		}
	}
}
