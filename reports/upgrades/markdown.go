package upgrades

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// where is the finding's hop, and how many objects it concerns, if any.
func (f *Finding) where() string {
	if len(f.Objects) == 0 {
		return f.Hop
	}
	return f.Hop + ", " + plain.Plural(len(f.Objects), "object")
}

// Markdown is the report for a change ticket.
func Markdown(r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Upgrade rehearsal\n\n%s\n", plain.Cell(r.Sentence()))
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "\n#### %s: %s\n\n%s\n\n", f.Severity, plain.Cell(f.title()), plain.Cell(f.where()))
		for i, o := range f.Objects {
			if i == shownObjects {
				fmt.Fprintf(&b, "- and %d more\n", len(f.Objects)-i)
				break
			}
			fmt.Fprintf(&b, "- %s %s\n", plain.Code(o.Name), plain.Cell(o.Place))
		}
		for _, line := range f.lines() {
			fmt.Fprintf(&b, "\n**%s**: %s\n", line[0], plain.Cell(line[1]))
		}
	}
	b.WriteString("\n| kind | objects |")
	for _, s := range r.Path {
		fmt.Fprintf(&b, " %s |", plain.Cell(s.Name))
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" --- |", len(r.Path)) + "\n")
	for _, row := range r.Matrix {
		fmt.Fprintf(&b, "| %s | %d |", plain.Cell(row.Kind), row.Objects)
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
		fmt.Fprintf(&b, "\nNote: %s\n", plain.Cell(note))
	}
	return b.String()
}
