package explorations

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// Markdown returns the report for an issue: new findings first, each with the scenario that reproduces it.
func Markdown(r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Exploration\n\n%s\n", plain.Cell(r.Sentence()))
	for _, known := range []bool{false, true} {
		for _, f := range r.Findings {
			if (f.Known != "") == known {
				b.WriteString("\n" + f.Markdown())
			}
		}
	}
	if len(r.Gates) > 0 {
		b.WriteString("\n#### What depends on which gate\n\n| gate | fields | accepted only while on | accepted only " +
			"while off |\n" +
			"| --- | --- | --- | --- |\n")
		for _, g := range r.Gates {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", g.Name, cell(g.Fields), cell(g.Accepted), cell(g.Rejected))
		}
	}
	b.WriteString("\n#### Fields\n\n| kind | objects | fields | dropped | in an object |\n| --- | --- " +
		"| --- | --- | --- |\n")
	for _, k := range r.Kinds {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", k.Name, k.Objects, k.Fields, k.Dropped, k.Covered)
	}
	for _, k := range r.Kinds {
		for _, rest := range k.Rest {
			fmt.Fprintf(&b, "\n- %s `%s`: %s", k.Name, rest.Field, plain.Cell(rest.Words))
		}
	}
	b.WriteString("\n")
	for _, line := range r.Unjudged {
		fmt.Fprintf(&b, "\nNot judged: %s\n", plain.Cell(line))
	}
	if line := r.DroppedLine(); line != "" {
		fmt.Fprintf(&b, "\n%s\n", plain.Cell(line))
	}
	for _, line := range r.Untried {
		fmt.Fprintf(&b, "\nNot tried: %s\n", plain.Cell(line))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "\nNote: %s\n", plain.Cell(note))
	}
	return b.String()
}

// Markdown returns a finding to paste into an issue.
func (f *Finding) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#### %s: %s\n\n%s\n", f.Sort, plain.Cell(f.Title()), plain.Cell(f.Hop()))
	for _, line := range f.Lines() {
		fmt.Fprintf(&b, "\n**%s**: %s\n", line[0], plain.Cell(line[1]))
	}
	if f.Scenario != "" {
		fence := plain.Fence(f.Scenario)
		fmt.Fprintf(&b, "\n%syaml\n%s%s\n", fence, f.Scenario, fence)
	}
	return b.String()
}

const shownInCell = 12

func cell(all []string) string {
	text := strings.Join(all[:min(len(all), shownInCell)], ", ")
	if n := len(all) - shownInCell; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return plain.Cell(text)
}
