package simulator

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestNames(t *testing.T) {
	const characters = `subgroup name %s is invalid: must consist of lowercase alphanumeric characters or '-', ` +
		`start with an alphanumeric character, and end with an alphanumeric character`
	tests := []struct {
		name, want string
	}{
		{"workers", ""},
		{"decode-workers", ""},
		{"a", ""},
		{"1", ""},
		{"a--b", ""},
		{strings.Repeat("a", 63), ""},
		{"", "subgroup name cannot be empty"},
		{"Workers", `subgroup name "Workers" must be lowercase; use "workers" instead`},
		{"\u212a", "subgroup name \"\u212a\" must be lowercase; use \"k\" instead"},
		{"\u0130", "subgroup name \"\u0130\" must be lowercase; use \"i\" instead"},
		{"workers\n", fmt.Sprintf(characters, `"workers\n"`)},
		{"-Workers", fmt.Sprintf(characters, `"-Workers"`)},
		{"é", fmt.Sprintf(characters, `"é"`)},
		{strings.Repeat("é", 31) + "a", fmt.Sprintf(characters, `"`+strings.Repeat("é", 31)+`a"`)},
		{strings.Repeat("é", 32), `subgroup name "` + strings.Repeat("é", 32) + `" exceeds maximum length of 63 characters`},
		{strings.Repeat("A", 64), `subgroup name "` + strings.Repeat("A", 64) + `" exceeds maximum length of 63 characters`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := text(names{}.check(test.name)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// specified returns the first mistake of a name, in the order of the checks. It follows the specification's prose,
// without a pattern.
func specified(name string) string {
	switch {
	case name == "":
		return "subgroup name cannot be empty"
	case len(name) > 63:
		return fmt.Sprintf("subgroup name %q exceeds maximum length of 63 characters", name)
	case label(name):
		return ""
	case label(strings.Map(unicode.ToLower, name)):
		return fmt.Sprintf("subgroup name %q must be lowercase; use %q instead", name, strings.Map(unicode.ToLower, name))
	}
	return fmt.Sprintf("subgroup name %q is invalid: must consist of lowercase alphanumeric characters or '-', "+
		"start with an alphanumeric character, and end with an alphanumeric character", name)
}

// label reports whether a text consists of a-z, 0-9 and dashes, with no dash at its ends.
func label(text string) bool {
	for i := range len(text) {
		c := text[i]
		alphanumeric := (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
		if !alphanumeric && (c != '-' || i == 0 || i == len(text)-1) {
			return false
		}
	}
	return text != ""
}

// anyName draws valid names, nearly valid names, and arbitrary texts.
func anyName() *rapid.Generator[string] {
	character := rapid.SampledFrom([]rune("abz019--AZK_. \n\u212a\u0130é"))
	return rapid.OneOf(
		rapid.StringMatching(`[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?`),
		rapid.StringMatching(`[-a-zA-Z0-9]{0,8}`),
		rapid.StringMatching(`[a-zA-Z]{60,66}`),
		rapid.StringOfN(character, 0, 70, -1),
		rapid.String(),
	)
}

func TestNamesAreJudgedAsSpecified(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := anyName().Draw(t, "name")
		if got, want := text(names{}.check(name)), specified(name); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", name, got, want)
		}
	})
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
