package words

import (
	"testing"
)

func TestSuggest(t *testing.T) {
	verbs := []string{"create", "update", "delete", "eventually"}
	for word, want := range map[string]string{
		"creat": `did you mean "create"?`, "Create": `did you mean "create"?`, "udpate": `did you mean "update"?`,
		"eventualy": `did you mean "eventually"?`, "zebra": "there are: create, delete, eventually, update",
	} {
		if got := Suggest(word, verbs, "there are"); got != want {
			t.Errorf("%s: %q", word, got)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"abc", "abc", 0},
		{"abc", "acb", 1},
		{"abc", "ab", 1},
		{"", "abc", 3},
		{"kitten", "sitting", 3},
		{"é", "e", 1},
	} {
		if got := Distance(test.a, test.b); got != test.want {
			t.Errorf("%s, %s: %d", test.a, test.b, got)
		}
	}
}
