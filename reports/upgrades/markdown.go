package upgrades

import (
	"fmt"
	"strings"
)

// Markdown is the report for a change ticket.
func Markdown(r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Upgrade rehearsal\n\n%s\n", escaped(r.Sentence()))
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "\n#### %s: %s\n\n%s, %s\n\n", f.Severity, escaped(f.title()), escaped(f.Hop),
			number(len(f.Objects), "object"))
		for i, o := range f.Objects {
			if i == shownObjects {
				fmt.Fprintf(&b, "- and %d more\n", len(f.Objects)-i)
				break
			}
			fmt.Fprintf(&b, "- `%s` %s\n", o.Name, escaped(o.Place))
		}
		for _, line := range f.lines() {
			fmt.Fprintf(&b, "\n**%s**: %s\n", line[0], escaped(line[1]))
		}
	}
	b.WriteString("\n| kind | objects |")
	for _, s := range r.Path {
		fmt.Fprintf(&b, " %s |", escaped(s.Name))
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" --- |", len(r.Path)) + "\n")
	for _, row := range r.Matrix {
		fmt.Fprintf(&b, "| %s | %d |", escaped(row.Kind), row.Objects)
		for i, cell := range row.Cells {
			fmt.Fprintf(&b, " %s |", cell.text(r.Path[i]))
		}
		b.WriteString("\n")
	}
	for i, s := range r.Path {
		if len(s.Flips) > 0 {
			fmt.Fprintf(&b, "\nGates that flip at %s -> %s: %s\n", r.Path[i-1].Name, s.Name, strings.Join(s.Flips, ", "))
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "\nNote: %s\n", escaped(note))
	}
	return b.String()
}

// escaped is a text in which Markdown sees nothing.
func escaped(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[").Replace(text)
}
