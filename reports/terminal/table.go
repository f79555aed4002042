package terminal

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// narrowestCell is the minimum width of a table's last column. If there is less room, its lines are not broken.
const narrowestCell = 24

// Table formats rows in columns. A row of one cell takes the whole line. The last cell is wrapped between words, at the
// width of the terminal; 0 for no limit.
func Table(rows [][]string, width int) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row[:len(row)-1] {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	before := 0
	for _, of := range widths {
		before += of + 2
	}
	var text strings.Builder
	for _, row := range rows {
		line, before := "", before
		if len(row) == 1 {
			before = 0
		}
		for i, cell := range row[:len(row)-1] {
			line += fmt.Sprintf("%-*s  ", widths[i], cell)
		}
		for i, part := range wrapped(row[len(row)-1], width-1-before) {
			if i > 0 {
				line = strings.Repeat(" ", before)
			}
			text.WriteString(strings.TrimRight(line+part, " ") + "\n")
		}
	}
	return text.String()
}

// wrapped wraps a text between words. If the text is indented, the lines after the first are indented twice as far.
func wrapped(text string, room int) []string {
	bare := strings.TrimLeft(text, " ")
	indent := text[:len(text)-len(bare)]
	if room < narrowestCell {
		return []string{text}
	}
	all, more := []string{indent}, indent+indent
	for _, word := range strings.Fields(bare) {
		last := all[len(all)-1]
		switch {
		case last == indent:
			all[len(all)-1] += word
		case utf8.RuneCountInString(last)+1+utf8.RuneCountInString(word) <= room:
			all[len(all)-1] += " " + word
		default:
			all = append(all, more+word)
		}
	}
	return all
}
