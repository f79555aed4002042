package matrices

import (
	"fmt"
	"regexp"
	"slices"
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
type Change struct {
	Before, After *Cell
	Class         Class
}

// Class says how the result of a cell changed.
type Class string

// The classes. A cell has a verdict if it passed, failed, failed as known, or is unstable.
const (
	// Worse: its verdict is worse, or a cell without a verdict now failed or is unstable, or a new or skipped cell was not
	// judged.
	Worse Class = "worse"
	// Lost: it had a verdict and has none, although both versions are still part of the matrix.
	Lost Class = "no longer judged"
	// Better: its verdict is better.
	Better Class = "better"
	// Added: it is only in the later matrix, and no failure.
	Added Class = "new"
	// Gone: it is not in the later matrix. It had no verdict, or one of its versions is no longer part of the matrix.
	Gone Class = "gone"
	// Differs: any other difference, such as another reason of the same status.
	Differs Class = "differs"
)

// Compare compares two matrices of one system.
func Compare(before, after *Report) (*Diff, error) {
	if before.System != after.System {
		return nil, fmt.Errorf("compare matrices: one is of system %s, the other of system %s", before.System, after.System)
	}
	for _, r := range []*Report{before, after} {
		if r.Shard != nil {
			return nil, fmt.Errorf("compare matrices: one is only shard %d/%d of a matrix: merge all shards with "+
				"'rehearse merge', and compare the whole matrices", r.Shard.Number, r.Shard.Of)
		}
	}
	d := &Diff{}
	for _, is := range after.Cells {
		was := before.Cell(is.Scenario, is.Version, is.Kubernetes)
		if was == nil || was.Status != is.Status || cause(was) != cause(is) {
			d.Changes = append(d.Changes, Change{Before: was, After: is, Class: classOf(was, is)})
		}
	}
	for _, was := range before.Cells {
		if after.Cell(was.Scenario, was.Version, was.Kubernetes) != nil {
			continue
		}
		class := Gone
		if judged(was) && slices.Contains(after.Versions, was.Version) && slices.Contains(after.Kubernetes, was.Kubernetes) {
			class = Lost
		}
		d.Changes = append(d.Changes, Change{Before: was, Class: class})
	}
	return d, nil
}

// The parts of a reason that differ between two runs: process ids and paths of clusters in an error; times, uids and
// resource versions in a verdict, whose other numbers matter.
var (
	volatile = regexp.MustCompile(`\S*/\S*|\d+`)
	moment   = regexp.MustCompile(
		`(?:[+(]|\b(?:at|after|for|in|into|within) )(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?:ms|µs|s)\b` +
			`|\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z` +
			`|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\bresourceVersion \d+`,
	)
)

// cause returns what must be equal in the reasons of two cells with the same status.
func cause(cell *Cell) string {
	switch known(cell.Status) {
	case reports.Error, reports.NotRun:
		return volatile.ReplaceAllString(cell.Reason, "")
	}
	return moment.ReplaceAllString(cell.Reason, "")
}

// rank orders statuses: a higher one is better for the system.
func rank(cell *Cell) int {
	return map[reports.Status]int{
		reports.Failed: 0, Unstable: 1, reports.Error: 2, reports.NotRun: 2, reports.Skipped: 3, reports.Known: 4,
		reports.Passed: 5,
	}[known(cell.Status)]
}

// judged reports whether the cell has a verdict.
func judged(cell *Cell) bool {
	return slices.Contains([]reports.Status{reports.Passed, reports.Known, reports.Failed, Unstable}, known(cell.Status))
}

// classOf returns the class of a cell of the later matrix. before is nil if the cell is new.
func classOf(before, after *Cell) Class {
	was := before
	if before == nil {
		was = &Cell{Status: reports.Skipped}
	}
	switch {
	case judged(was) && !judged(after):
		return Lost
	case rank(after) < rank(was):
		return Worse
	case before == nil:
		return Added
	case judged(after) && rank(after) > rank(was):
		return Better
	}
	return Differs
}

// Count counts the cells of some classes.
func (d *Diff) Count(classes ...Class) int {
	return plain.Count(d.Changes, func(c Change) bool { return slices.Contains(classes, c.Class) })
}

// String returns a line for each cell that differs.
func (d *Diff) String() string {
	if len(d.Changes) == 0 {
		return "no cell differs\n"
	}
	var b strings.Builder
	for _, c := range d.Changes {
		b.WriteString(c.String() + "\n")
	}
	fmt.Fprintf(&b, "%s: %d worse, %d no longer judged, %d better\n", plain.Differ(len(d.Changes), "cell"),
		d.Count(Worse), d.Count(Lost), d.Count(Better))
	return b.String()
}

// String is "worse: upgrade, v1.2.0 on 1.35: passed -> failed: no such field".
func (c Change) String() string {
	one := c.After
	if one == nil {
		one = c.Before
	}
	text := fmt.Sprintf("%s: %s, %s on %s: ", c.Class, one.Scenario, one.Version, one.Kubernetes)
	if c.Before != nil && c.After != nil && c.Before.Status == c.After.Status {
		return fmt.Sprintf("%s%s for another reason: %s (before: %s)", text, Word(one.Status), plain.OneLine(one.Reason),
			plain.OneLine(c.Before.Reason))
	}
	status := func(cell *Cell) string {
		if cell == nil {
			return "none"
		}
		return Word(cell.Status)
	}
	text += status(c.Before) + " -> " + status(c.After)
	if c.After != nil {
		text += plain.Prefixed(": ", plain.OneLine(c.After.Reason))
	}
	return text
}
