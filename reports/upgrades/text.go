package upgrades

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// shownObjects is how many objects of a finding the text names. upgrade.json has all.
const shownObjects = 5

// Text returns the report as a text: a sentence, the findings, and the matrix.
func Text(r *Report) string { return TextIn(r, 0) }

// TextIn returns the text for a terminal with so many columns; 0 if lines may have any length.
func TextIn(r *Report, columns int) string {
	var b strings.Builder
	b.WriteString(r.Sentence() + "\n")
	for _, f := range r.Findings {
		b.WriteString("\n" + findingText(f))
	}
	b.WriteString("\n" + matrixText(r, columns))
	for _, note := range r.Notes {
		b.WriteString("note: " + note + "\n")
	}
	return plain.Wrap(plain.Clean(b.String()), columns)
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
	return strings.ToUpper(string(f.Severity)) + plain.Prefixed("  ", f.Hop) + "  " + f.title()
}

// title returns the finding's kind and sentence.
func (f *Finding) title() string { return f.Kind + ": " + f.What }

// lines returns the lines of a finding after its objects, each a word and its text.
func (f *Finding) lines() [][2]string {
	return slices.DeleteFunc([][2]string{
		{"seen", f.Words},
		{"also", f.also()},
		{"cause", strings.TrimSpace(f.Cause + " " + f.Link)},
		{"later", f.Back},
		{"gates", f.gates()},
		{"to do", f.Advice},
	}, func(line [2]string) bool { return line[1] == "" })
}

// also names the other checks that fail in the same way.
func (f *Finding) also() string {
	if len(f.Checks) == 0 {
		return ""
	}
	return "these checks fail in the same way: " + strings.Join(f.Checks, ", ")
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
		return fmt.Sprintf("%d flip at this hop, but none has a related name (see upgrade.md in the report folder); the "+
			"cause may be a change without a gate", others)
	case others == 0:
		return strings.Join(f.Flips, ", ")
	}
	return fmt.Sprintf("%s; and %d more flip at this hop (see upgrade.md in the report folder)",
		strings.Join(f.Flips[:likely], ", "), others)
}

// String returns the object with its place.
func (o Object) String() string {
	if o.Place == "" {
		return o.Name
	}
	return o.Name + "  " + o.Place
}

// line is a line of the matrix: what it is about, the number of objects, and a text for each state.
type line struct {
	name, objects string
	cells         []string
}

// matrixLines has a line for each kind with a finding, one for the others, and one for the times.
func matrixLines(r *Report) []line {
	var all []line
	kinds, objects := 0, 0
	for _, row := range r.Matrix {
		if row.well() && r.Reached() == len(r.Path) {
			kinds, objects = kinds+1, objects+row.Objects
			continue
		}
		one := line{name: row.Kind, objects: fmt.Sprint(row.Objects)}
		for i, cell := range row.Cells {
			one.cells = append(one.cells, cell.text(r.Path[i]))
		}
		all = append(all, one)
	}
	if kinds > 0 {
		which := "other kind"
		if kinds == len(r.Matrix) {
			which = "kind"
		}
		all = append(all, line{
			name: plain.Plural(kinds, which), objects: fmt.Sprint(objects),
			cells: slices.Repeat([]string{"ok"}, len(r.Path)),
		})
	}
	took := line{name: "took"}
	for _, s := range r.Path {
		took.cells = append(took.cells, fmt.Sprintf("%.1fs", s.Transition+s.Survey))
	}
	return append(all, took)
}

// matrixText is a table. If that is wider than the terminal, it is a line for each kind and state.
func matrixText(r *Report, columns int) string {
	var b strings.Builder
	lines := matrixLines(r)
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "kind\tobjects")
	for _, s := range r.Path {
		fmt.Fprint(table, "\t"+s.Name)
	}
	for _, one := range lines {
		fmt.Fprint(table, "\n"+one.name+"\t"+one.objects)
		for _, text := range one.cells {
			fmt.Fprint(table, "\t"+text)
		}
	}
	_ = table.Flush() // writing to a Builder never fails
	if text := b.String(); columns <= 0 || widest(text) <= columns {
		return text + "\n"
	}
	b.Reset()
	for _, one := range lines {
		b.WriteString(one.name + plain.Prefixed(", objects: ", one.objects) + "\n")
		for i, text := range one.cells {
			fmt.Fprintf(&b, "    %s: %s\n", r.Path[i].Name, text)
		}
	}
	return b.String()
}

// widest returns how many columns the widest line takes.
func widest(text string) int {
	columns := 0
	for line := range strings.SplitSeq(text, "\n") {
		columns = max(columns, plain.Cells(line))
	}
	return columns
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
	}{{c.Breaks, "BREAKS"}, {c.Unjudged, string(Unjudged)}, {c.Changes, "changed"}, {c.Before, "before"}, {c.Good, "ok"}} {
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
