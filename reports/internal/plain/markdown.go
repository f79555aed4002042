package plain

import (
	"fmt"
	"strings"
)

// MostDetails is the maximum number of explanations on a page, and longest the maximum length of each: a CI's job
// summary is limited to 1 MiB.
const (
	MostDetails = 40
	longest     = 6000
)

// Details returns an explanation that can be unfolded. Its fence is longer than any in the text.
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

// Cell escapes a text for Markdown, also for a cell of a table, in one line.
func Cell(text string) string {
	var b strings.Builder
	for _, r := range OneLine(text) {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case strings.ContainsRune("\\`*_[]|~", r):
			b.WriteRune('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// HTML escapes a text for HTML, in one line.
func HTML(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(OneLine(text))
}
