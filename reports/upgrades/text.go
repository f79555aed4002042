package upgrades

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// shownObjects is how many objects of a finding the text names. upgrade.json has all.
const shownObjects = 5

// Text returns the report for a terminal: a sentence, the findings, and the matrix.
func Text(r *Report) string {
	var b strings.Builder
	b.WriteString(r.Sentence() + "\n")
	for _, f := range r.Findings {
		b.WriteString("\n" + findingText(f))
	}
	b.WriteString("\n" + matrixText(r))
	for _, note := range r.Notes {
		b.WriteString("note: " + note + "\n")
	}
	return b.String()
}

func findingText(f *Finding) string {
	var b strings.Builder
	b.WriteString(f.Line() + "\n")
	for i, o := range f.Objects {
		if i == shownObjects {
			fmt.Fprintf(&b, "    and %d more\n", len(f.Objects)-i)
			break
		}
		fmt.Fprintf(&b, "    %s\n", o)
	}
	for _, line := range f.lines() {
		fmt.Fprintf(&b, "    %s: %s\n", line[0], strings.ReplaceAll(line[1], "\n", "\n      "))
	}
	return b.String()
}

// Line returns the finding in one line: how bad it is, the hop, the kind, and what fails.
func (f *Finding) Line() string {
	return fmt.Sprintf("%s  %s  %s", strings.ToUpper(string(f.Severity)), f.Hop, f.title())
}

// title returns the finding's kind and sentence.
func (f *Finding) title() string { return f.Kind + ": " + f.What }

// lines returns the lines of a finding after its objects, each a word and its text.
func (f *Finding) lines() [][2]string {
	var lines [][2]string
	for _, line := range [][2]string{
		{"seen", f.Words},
		{"also", f.also()},
		{"cause", strings.TrimSpace(f.Cause + " " + f.Link)},
		{"back", f.Back},
		{"gates", f.gates()},
		{"to do", f.Advice},
	} {
		if line[1] != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// also names the other checks that fail in the same way.
func (f *Finding) also() string {
	if len(f.Checks) == 0 {
		return ""
	}
	return "so fail the checks " + strings.Join(f.Checks, ", ")
}

// shownGates is how many gates the text names for each finding.
const shownGates = 6

// gates returns the gates that flip at the hop. If names of gates fit the finding, it lists only these.
func (f *Finding) gates() string {
	likely := 0
	for likely < len(f.Flips) && likely < shownGates && related(f.Flips[likely], f.Kind, f.Words) > 0 {
		likely++
	}
	others := len(f.Flips) - likely
	switch {
	case len(f.Flips) == 0:
		return ""
	case likely == 0 && others <= shownGates:
		return strings.Join(f.Flips, ", ")
	case likely == 0:
		return fmt.Sprintf("none of the %d that flip at this hop has a name that fits (upgrade.md lists them); it may be "+
			"a change without a gate", others)
	case others == 0:
		return strings.Join(f.Flips, ", ")
	}
	return fmt.Sprintf("%s; and %d more flip at this hop (upgrade.md lists them)", strings.Join(f.Flips[:likely], ", "),
		others)
}

// String returns the object with its place.
func (o Object) String() string {
	if o.Place == "" {
		return o.Name
	}
	return o.Name + "  " + o.Place
}

// matrixText has a row for each kind with a finding, and one line for the others.
func matrixText(r *Report) string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "kind\tobjects")
	for _, s := range r.Path {
		fmt.Fprint(table, "\t"+s.Name)
	}
	kinds, objects := 0, 0
	for _, row := range r.Matrix {
		if row.well() && r.reached() == len(r.Path) {
			kinds, objects = kinds+1, objects+row.Objects
			continue
		}
		fmt.Fprintf(table, "\n%s\t%d", row.Kind, row.Objects)
		for i, cell := range row.Cells {
			fmt.Fprint(table, "\t"+cell.text(r.Path[i]))
		}
	}
	if kinds > 0 {
		which := "other kind"
		if kinds == len(r.Matrix) {
			which = "kind"
		}
		fmt.Fprintf(table, "\n%s\t%d", plain.Plural(kinds, which), objects)
		for range r.Path {
			fmt.Fprint(table, "\tok")
		}
	}
	fmt.Fprint(table, "\ntook\t")
	for _, s := range r.Path {
		fmt.Fprintf(table, "\t%.1fs", s.Transition+s.Survey)
	}
	_ = table.Flush() // writing to a Builder never fails
	return b.String() + "\n"
}

// well reports whether all objects of the kind are good in all states.
func (r *Row) well() bool {
	for _, cell := range r.Cells {
		if cell != (Cell{Good: r.Objects}) {
			return false
		}
	}
	return true
}

// text returns the text of a cell.
func (c Cell) text(s *State) string {
	var parts []string
	for _, part := range []struct {
		n    int
		text string
	}{{c.Breaks, "BREAKS"}, {c.Unjudged, "?"}, {c.Changes, "changed"}, {c.Before, "before"}, {c.Good, "ok"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.text))
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case s.Reached:
		return "absent"
	}
	return "not reached"
}
