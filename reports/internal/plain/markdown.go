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
	fence := Fence(text)
	return fmt.Sprintf("\n<details><summary>%s</summary>\n\n%stext\n%s\n%s\n\n</details>\n", HTML(name), fence, text,
		fence)
}

// Fence returns a fence of Markdown that is longer than any in the text.
func Fence(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// Code returns a text as code in a line of Markdown.
func Code(text string) string {
	text, quote := OneLine(text), "`"
	for strings.Contains(text, quote) {
		quote += "`"
	}
	if len(quote) > 1 {
		text = " " + text + " "
	}
	return quote + text + quote
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
