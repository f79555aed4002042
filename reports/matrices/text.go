package matrices

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// Text returns the report for a terminal: a table for each scenario, and why cells are not passed.
func Text(r *Report) string {
	var b strings.Builder
	for _, scenario := range r.Scenarios {
		b.WriteString(plain.OneLine(scenario) + "\n")
		table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintf(table, "  %s\t%s\n", r.System, strings.Join(r.Kubernetes, "\t"))
		for _, version := range r.Versions {
			fmt.Fprint(table, "  "+version)
			for _, kubernetes := range r.Kubernetes {
				fmt.Fprint(table, "\t"+word(r.Cell(scenario, version, kubernetes)))
			}
			fmt.Fprintln(table)
		}
		_ = table.Flush() // writing to a Builder never fails
		for _, reason := range r.Reasons(scenario) {
			fmt.Fprintf(&b, "  %s: %s: %s\n", Word(reason.Status), reason.Where, reason.Text)
		}
		b.WriteString("\n")
	}
	for _, text := range r.Broken {
		b.WriteString(text + "\n")
	}
	return b.String() + r.Sentence() + "\n"
}

func word(cell *Cell) string {
	if cell == nil {
		return ""
	}
	return Word(cell.Status)
}

// Reason says why cells of a scenario are not passed. Cells with the same reason share one.
type Reason struct {
	Status reports.Status
	// Where names the cells: "v1.2.0 on 1.34, 1.35; v1.3.0 on 1.34".
	Where string
	Text  string
}

// Worst returns the statuses of cells that are not passed, worst first.
func Worst() []reports.Status {
	return []reports.Status{
		reports.Failed, Unstable, reports.Error, reports.NotRun, reports.Known, reports.Skipped,
	}
}

// Reasons returns why cells of a scenario are not passed: the worst first, and otherwise in the order of the cells.
func (r *Report) Reasons(scenario string) []Reason {
	var all []Reason
	for _, status := range Worst() {
		var texts []string
		cells := map[string][]*Cell{}
		for _, cell := range r.Cells {
			if cell.Scenario != scenario || known(cell.Status) != status {
				continue
			}
			text := plain.OneLine(cell.Reason)
			if cells[text] == nil {
				texts = append(texts, text)
			}
			cells[text] = append(cells[text], cell)
		}
		for _, text := range texts {
			all = append(all, Reason{Status: status, Where: r.where(cells[text]), Text: text})
		}
	}
	return all
}

func (r *Report) where(cells []*Cell) string {
	var parts []string
	for _, version := range r.Versions {
		var on []string
		for _, kubernetes := range r.Kubernetes {
			if slices.ContainsFunc(cells, func(c *Cell) bool { return c.Version == version && c.Kubernetes == kubernetes }) {
				on = append(on, kubernetes)
			}
		}
		if len(on) > 0 {
			parts = append(parts, version+" on "+strings.Join(on, ", "))
		}
	}
	return strings.Join(parts, "; ")
}
