// Package plain prepares texts for terminals, XML and Markdown.
package plain

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"
)

// escapes are the control sequences of terminals (ECMA-48 CSI and OSC), as programs write them to colour their output.
var escapes = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?)")

// Clean makes a text valid for XML 1.0 and for a terminal: it removes control sequences and control characters
// (except tabs and line ends), and replaces invalid UTF-8.
func Clean(text string) string {
	text = strings.ToValidUTF8(escapes.ReplaceAllString(text, ""), "\uFFFD")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), r == 0xFFFE, r == 0xFFFF:
			return -1
		default:
			return r
		}
	}, text)
}

// OneLine cleans a text, and removes line ends and repeated spaces.
func OneLine(text string) string { return strings.Join(strings.Fields(Clean(text)), " ") }

// FirstLine returns the first line of a text that is not blank.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

// Position splits file:line:column.
func Position(position string) (file string, line int, ok bool) {
	parts := strings.Split(position, ":")
	if len(parts) < 3 {
		return "", 0, false
	}
	last := len(parts) - 2
	line, err := strconv.Atoi(parts[last])
	return strings.Join(parts[:last], ":"), line, err == nil
}

// Indent puts the prefix before every line that is not empty.
func Indent(text, prefix string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = prefix + line
		}
	}
	return strings.Join(lines, "\n")
}

// Duration formats a duration for a person: 12ms, 2.4s, 3m07s, 1h02m.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second-500*time.Microsecond:
		return fmt.Sprintf("%dms", d.Round(time.Millisecond).Milliseconds())
	case d < time.Minute-50*time.Millisecond:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour-500*time.Millisecond:
		d = d.Round(time.Second)
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}

// Cells returns how many columns of a terminal a text takes.
func Cells(text string) int {
	n := 0
	for _, r := range text {
		n += runeCells(r)
	}
	return n
}

func runeCells(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// Pad fills a text with spaces up to a number of columns.
func Pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(columns-Cells(text), 0))
}

// Cut shortens a text to a number of columns. The mark replaces what was cut.
func Cut(text string, columns int, mark string) string {
	if Cells(text) <= columns {
		return text
	}
	room := columns - Cells(mark)
	for i, r := range text {
		if room -= runeCells(r); room < 0 {
			return strings.TrimRight(text[:i], " ") + mark
		}
	}
	return text
}

// Wrap breaks each line that is wider than columns at its spaces, and indents the continuation by two more. A word
// without a space (a path, an address) stays whole. If columns is 0, nothing is broken.
func Wrap(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		hang := line[:len(line)-len(strings.TrimLeft(line, " "))] + "  "
		head, rest := breakLine(line, columns)
		out = append(out, head)
		for rest != "" {
			head, rest = breakLine(hang+rest, columns)
			out = append(out, head)
		}
	}
	return strings.Join(out, "\n")
}

// breakLine breaks a line at the last space within columns, or at the first space if there is none.
func breakLine(line string, columns int) (head, rest string) {
	if Cells(line) <= columns {
		return line, ""
	}
	indented := len(line) - len(strings.TrimLeft(line, " "))
	used, at := 0, -1
	for i, r := range line {
		if r == ' ' && i > indented && line[i-1] != ' ' {
			if used > columns && at >= 0 {
				break
			}
			at = i
		}
		if used += runeCells(r); used > columns && at >= 0 {
			break
		}
	}
	if at < 0 {
		return line, ""
	}
	return line[:at], strings.TrimLeft(line[at:], " ")
}

// Plural returns a number of things: "1 step", "3 steps".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Differ says how many things differ: "1 cell differs", "3 cells differ".
func Differ(n int, what string) string {
	if n == 1 {
		return "1 " + what + " differs"
	}
	return Plural(n, what) + " differ"
}

// Prefixed returns a text after a prefix, or "" if the text is empty.
func Prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}
