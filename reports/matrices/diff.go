package matrices

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// Diff is what changed from one matrix to another.
type Diff struct {
	// Changes of cells, in the order of the later matrix. Cells that it does not have come last.
	Changes []Change
}

// Change of a cell. Before or After is nil where a matrix does not have the cell.
type Change struct{ Before, After *Cell }

// Compare compares two matrices of one system.
func Compare(before, after *Report) (*Diff, error) {
	if before.System != after.System {
		return nil, fmt.Errorf("compare matrices: one is of system %s, the other of system %s", before.System, after.System)
	}
	d := &Diff{}
	for _, is := range after.Cells {
		was := before.Cell(is.Scenario, is.Version, is.Kubernetes)
		if was == nil || was.Status != is.Status {
			d.Changes = append(d.Changes, Change{Before: was, After: is})
		}
	}
	for _, was := range before.Cells {
		if after.Cell(was.Scenario, was.Version, was.Kubernetes) == nil {
			d.Changes = append(d.Changes, Change{Before: was})
		}
	}
	return d, nil
}

// rank orders statuses: a higher one is better for the system.
func rank(cell *Cell) int {
	return map[reports.Status]int{
		reports.Failed: 0, Unstable: 1, reports.Error: 2, reports.NotRun: 3, reports.Skipped: 4, reports.Known: 5,
		reports.Passed: 6,
	}[known(cell.Status)]
}

// Worse reports whether the result of the cell is worse than before. A new cell is worse if it failed or could not be
// judged. A removed cell is not worse: old versions leave the matrix on purpose.
func (c Change) Worse() bool {
	switch {
	case c.After == nil:
		return false
	case c.Before == nil:
		return rank(c.After) < rank(&Cell{Status: reports.Skipped})
	}
	return rank(c.After) < rank(c.Before)
}

func (c Change) better() bool {
	return c.Before != nil && c.After != nil && rank(c.After) > rank(c.Before)
}

// Worse counts the cells with a worse result.
func (d *Diff) Worse() int { return plain.Count(d.Changes, Change.Worse) }

// String returns a line for each cell that differs.
func (d *Diff) String() string {
	if len(d.Changes) == 0 {
		return "no cell differs\n"
	}
	var b strings.Builder
	for _, c := range d.Changes {
		b.WriteString(c.String() + "\n")
	}
	fmt.Fprintf(&b, "%s: %d worse, %d better\n", plain.Differ(len(d.Changes), "cell"), d.Worse(),
		plain.Count(d.Changes, Change.better))
	return b.String()
}

// String is "worse: upgrade, v1.2.0 on 1.35: passed -> failed: no such field".
func (c Change) String() string {
	one, way := c.After, "differs"
	switch {
	case c.After == nil:
		one, way = c.Before, "gone"
	case c.Worse():
		way = "worse"
	case c.better():
		way = "better"
	case c.Before == nil:
		way = "new"
	}
	status := func(cell *Cell) string {
		if cell == nil {
			return "none"
		}
		return Word(cell.Status)
	}
	text := fmt.Sprintf("%s: %s, %s on %s: %s -> %s", way, one.Scenario, one.Version, one.Kubernetes, status(c.Before),
		status(c.After))
	if c.After != nil {
		text += plain.Prefixed(": ", plain.OneLine(c.After.Reason))
	}
	return text
}
