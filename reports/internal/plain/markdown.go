package plain

import (
	"fmt"
	"strings"
)

// MostDetails is how many explanations a page has at most, and longest how long each of them may be: a CI's job summary
// takes 1 MiB.
const (
	MostDetails = 40
	longest     = 6000
)

// Details is an explanation that can be unfolded. Its fence is longer than any in the text.
func Details(name, text string) string {
	text = Clean(text)
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "\n... (the rest is in junit.xml)"
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("\n<details><summary>%s</summary>\n\n%stext\n%s\n%s\n\n</details>\n", HTML(name), fence, text,
		fence)
}

// Cell is a text that a table's cell shows as it is.
func Cell(text string) string {
	var b strings.Builder
	for _, r := range HTML(text) {
		if strings.ContainsRune("\\`*_[]|~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// HTML is a text in one line in which HTML sees nothing.
func HTML(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(OneLine(text))
}

// Escaped is a text in which Markdown sees nothing, in one line.
func Escaped(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[").Replace(text)
}
