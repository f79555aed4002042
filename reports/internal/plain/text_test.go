package plain

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                                "0ms",
		400 * time.Microsecond:           "0ms",
		12 * time.Millisecond:            "12ms",
		999400 * time.Microsecond:        "999ms",
		999600 * time.Microsecond:        "1.0s",
		2440 * time.Millisecond:          "2.4s",
		59940 * time.Millisecond:         "59.9s",
		59960 * time.Millisecond:         "1m00s",
		187 * time.Second:                "3m07s",
		time.Hour - time.Millisecond:     "1h00m",
		62*time.Minute + 29*time.Second:  "1h02m",
		-time.Second:                     "-1000ms",
		time.Hour - 600*time.Millisecond: "59m59s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%d: %q, want %q", d, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"a b c", 3, "a…"},
		{"é", 1, "é"},
	} {
		if got := Cut(c.text, c.columns, "…"); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\nhere":               "plain\ttext\nhere",
		"line\r\n":                        "line\n",
		"\x1b[1;31mred\x1b[0m":            "red",
		"\x1b]8;;http://a\x1b\\link\x07!": "link!",
		"\x1b unfinished \x1b[":           " unfinished [",
		"a\x00b\u0085c\u007f":             "abc",
		"\xff\xfe":                        "\uFFFD",
		"\uFFFE\uFFFF\U0001F600":          "\U0001F600",
	} {
		if got := Clean(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
