package matrices

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// Repeated merges the matrices of several equal runs. A cell whose verdicts differ is unstable, which is not passed.
// If a cell did not run in an interrupted run, only the other runs count.
func Repeated(list []*Report) *Report {
	merged := *list[0]
	merged.Runs, merged.Cells, merged.Broken = len(list), nil, nil
	for i, r := range list {
		merged.Finished, merged.Interrupted = r.Finished, merged.Interrupted || r.Interrupted
		for _, text := range r.Broken {
			merged.Broken = append(merged.Broken, fmt.Sprintf("in run %d: %s", i+1, text))
		}
	}
	for i := range list[0].Cells {
		merged.Cells = append(merged.Cells, repeatedCell(list, i))
	}
	return &merged
}

func repeatedCell(list []*Report, i int) *Cell {
	var seen []*Cell
	var statuses []reports.Status
	for _, r := range list {
		if cell := r.Cells[i]; !r.Interrupted || known(cell.Status) != reports.NotRun {
			seen, statuses = append(seen, cell), append(statuses, known(cell.Status))
		}
	}
	switch {
	case len(seen) == 0:
		return list[0].Cells[i]
	case !plain.Vary(statuses):
		return seen[0]
	}
	n := slices.IndexFunc(seen, func(c *Cell) bool { return c.Status != reports.Passed && c.Status != reports.Known })
	if n < 0 { // passed and known
		n = slices.IndexFunc(seen, func(c *Cell) bool { return c.Status != reports.Passed })
	}
	words := make([]string, len(statuses))
	for j, status := range statuses {
		words[j] = Word(status)
	}
	unstable := *seen[n]
	unstable.Status, unstable.Runs = Unstable, statuses
	unstable.Reason = fmt.Sprintf("%s%s", plain.InRuns(words), plain.Prefixed("; ", seen[n].Reason))
	return &unstable
}
