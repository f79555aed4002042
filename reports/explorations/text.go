package explorations

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// TextIn returns the report as a text for a terminal with so many columns: a sentence, the findings, and what was and
// was not tried. If columns is 0, lines may have any length.
func TextIn(r *Report, columns int) string {
	var b strings.Builder
	b.WriteString(r.Sentence() + "\n")
	for _, f := range r.Findings {
		b.WriteString("\n" + f.text())
	}
	all, covered := r.Fields()
	fmt.Fprintf(&b, "\n%s, %d of %d fields that can be set, %d objects tried in %d dry runs (%.0f a second)\n",
		plain.Plural(len(r.Kinds), "kind"), covered, all, r.Tried, r.DryRuns, r.PerSecond)
	if line := r.DroppedLine(); line != "" {
		b.WriteString(line + "\n")
	}
	for _, line := range r.Unjudged {
		b.WriteString("not judged: " + line + "\n")
	}
	for _, line := range r.Untried {
		b.WriteString("not tried: " + line + "\n")
	}
	for _, note := range r.Notes {
		b.WriteString("note: " + note + "\n")
	}
	return plain.Wrap(plain.Clean(b.String()), columns)
}

// Title returns the finding in one line.
func (f *Finding) Title() string {
	return fmt.Sprintf("%s: %s", strings.Join(f.Kinds, ", "), f.What)
}

// Hop returns the transition that broke it.
func (f *Finding) Hop() string {
	if f.Before == f.To {
		return f.To
	}
	return f.Before + " -> " + f.To
}

func (f *Finding) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s\n", strings.ToUpper(string(f.Sort)), f.Hop(), f.Title())
	for _, line := range f.Lines() {
		fmt.Fprintf(&b, "    %s: %s\n", line[0], strings.ReplaceAll(line[1], "\n", "\n      "))
	}
	return b.String()
}

// objectsOf returns how many objects show a finding, and the fields that they were made for; "" if none did.
func objectsOf(f *Finding) string {
	if f.Objects == 0 {
		return ""
	}
	return fmt.Sprint(f.Objects) + plain.Prefixed(", for ", strings.Join(f.Fields, ", "))
}

// Lines returns the lines of a finding, each a word and its text.
func (f *Finding) Lines() [][2]string {
	return slices.DeleteFunc([][2]string{
		{"seen", f.Words},
		{"checks", strings.Join(f.Checks, ", ")},
		{"made at", made(f)},
		{"objects", objectsOf(f)},
		{"later", f.Back},
		{"gates", strings.Join(f.Flips, ", ")},
		{"rule", f.Rule},
		{"known", strings.TrimSpace(f.Known + " " + f.Link)},
		{"proof", string(f.Proof)},
		{"id", f.ID},
	}, func(line [2]string) bool { return line[1] == "" })
}

// made returns the state in which the objects were created, if that is not the state before the hop.
func made(f *Finding) string {
	if f.From == f.Before {
		return ""
	}
	return f.From
}
