package conformance

import (
	"slices"
	"strings"
)

// seen is a message in one line: what was expected and what was seen. The stored object is in the evidence, and a false
// expression is in the scenario: if the message explains why it is false, only the explanation is kept.
func seen(message string) string {
	const most = 800
	var parts []string
	lines := slices.Collect(strings.Lines(strings.ReplaceAll(message, "\t", "    ")))
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		switch {
		case line == "stored object:":
			return short(parts, most)
		case strings.HasPrefix(line, "cel: ") && explained(lines[i+1:]):
			i++ // skip "is false"
		case line != "":
			parts = append(parts, line)
		}
	}
	return short(parts, most)
}

// explained reports whether the first line says that an expression is false, and the others say why.
func explained(lines []string) bool {
	return len(lines) > 1 && strings.TrimSpace(lines[0]) == "is false" && indent(lines[1]) == indent(lines[0])
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func short(parts []string, most int) string {
	text := strings.Join(parts, " | ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " ..."
	}
	return text
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(strings.ReplaceAll(line, "\t", "    "))
}
