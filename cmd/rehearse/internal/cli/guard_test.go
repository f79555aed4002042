package cli

import (
	"io"
	"strings"
	"testing"
)

func TestGuarded(t *testing.T) {
	for text, want := range map[string]string{
		"plain: a::b #[x]\n":                     "plain: a::b #[x]\n",
		"::error::x\n":                           ": :error::x\n",
		"denied:\n  ::stop-commands::x":          "denied:\n  : :stop-commands::x",
		"a\r\u00a0::add-mask::x":                 "a\r\u00a0: :add-mask::x",
		"a ##[error]b ###[c":                     "a ## [error]b ### [c",
		":a:: b":                                 ":a:: b",
		"\n\n:::x":                               "\n\n: ::x",
		"a: b\n: c\n:: d":                        "a: b\n: c\n: : d",
		"\u2003::warning::a\n\t::debug::b\n# #[": "\u2003: :warning::a\n\t: :debug::b\n# #[",
	} {
		t.Setenv("GITHUB_ACTIONS", "true")
		var whole, bytes strings.Builder
		if n, err := io.WriteString(Guarded(&whole), text); err != nil || n != len(text) {
			t.Errorf("%q: wrote %d of %d bytes: %v", text, n, len(text), err)
		}
		byOne := Guarded(&bytes)
		for i := range len(text) {
			_, _ = byOne.Write([]byte{text[i]})
		}
		if whole.String() != want || bytes.String() != want {
			t.Errorf("got %q, and byte by byte %q; want %q", &whole, &bytes, want)
		}
		t.Setenv("GITHUB_ACTIONS", "")
		if Guarded(&whole) != io.Writer(&whole) {
			t.Error("the output is changed outside of GitHub Actions")
		}
	}
}
