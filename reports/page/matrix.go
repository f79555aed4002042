package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
)

// matrix is a table of what was tested and where.
type matrix struct {
	Title, Text, Corner string
	Columns             []column
	Rows                []matrixRow
	// Flips are shown beside it: the gates that flip on the way to a column.
	Flips []flips
	// Broken names what is in the cells that did not pass.
	Broken []brokenCell
}

// brokenCell is a cell that did not pass, by its row and its column.
type brokenCell struct{ Row, Column, Names string }

type column struct{ Name, Remark string }

// flips are the gates that flip on one way.
type flips struct {
	Way   string
	Gates []string
}

type matrixRow struct {
	Name, Level, Text string
	Cells             []cell
}

// cell has the worst status that was seen, if any. Word says the status if Text does not. Link leads to its scenario;
// "" for none.
type cell struct {
	Status reports.Status
	Text   string
	Word   string
	Title  string
	Link   string
}

// requirements returns the matrix of requirements and versions. A step that names a requirement counts in the version
// that it ran in. If no step names it, the scenario as a whole counts in each version of its path. A failed scenario
// says nothing about versions in which its failing step did not run.
func requirements(run *reports.Run) matrix {
	m := matrix{
		Title: "Requirements and versions", Corner: "requirement",
		Text: "How many scenarios tested a requirement in a version. The colour is that of the worst " +
			"result: 1/2 is one of two.",
	}
	columns := reports.Versions(run)
	for _, version := range columns {
		m.Columns = append(m.Columns, column{Name: version})
	}
	for _, f := range run.Flips {
		m.Flips = append(m.Flips, flips{Way: f.From + " → " + f.To, Gates: f.Gates})
	}
	var ids []string
	cells := map[string]map[string]map[reports.Status][]string{}
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			for _, id := range s.Covers {
				if cells[id] == nil {
					cells[id] = map[string]map[reports.Status][]string{}
					ids = append(ids, id)
				}
				for version, status := range testedIn(s, id) {
					if cells[id][version] == nil {
						cells[id][version] = map[reports.Status][]string{}
					}
					cells[id][version][status] = append(cells[id][version][status], s.Name)
				}
			}
		}
	}
	statements, rank := map[string]reports.Requirement{}, map[string]int{}
	for i, r := range run.Requirements {
		statements[r.ID], rank[r.ID] = r, i-len(run.Requirements) // before unknown ones
	}
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(rank[a], rank[b]) })
	for _, id := range ids {
		row := matrixRow{Name: id, Level: statements[id].Level, Text: statements[id].Statement}
		for _, version := range columns {
			one := cellOf(cells[id][version])
			row.Cells = append(row.Cells, one)
			if one.Status != "" && one.Status != reports.Passed {
				m.Broken = append(m.Broken, brokenCell{id, version, one.Title})
			}
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// testedIn returns a scenario's result for a requirement, by version.
func testedIn(s *reports.Scenario, id string) map[string]reports.Status {
	found := map[string]reports.Status{}
	note := func(version string, status reports.Status) {
		if old, ok := found[version]; !ok || slices.Index(reports.Gravity, status) > slices.Index(reports.Gravity, old) {
			found[version] = status
		}
	}
	for _, step := range s.Steps {
		if slices.Contains(step.Covers, id) {
			note(reports.VersionOf(step.State), step.Status)
		}
	}
	status, decisive := s.About(id)
	if len(found) > 0 {
		// If all its steps passed, a later step that is about no requirement ended the scenario before all of it was seen.
		passed := true
		for _, own := range found {
			passed = passed && own == reports.Passed
		}
		if passed && status == reports.NotRun {
			for version := range found {
				found[version] = reports.NotRun
			}
		}
		return found
	}
	for _, version := range s.Versions {
		if status == reports.Passed || decisive == nil || reports.VersionOf(decisive.State) == version {
			note(version, status)
		} else {
			note(version, reports.NotRun)
		}
	}
	return found
}

func cellOf(by map[reports.Status][]string) cell {
	c := cell{Text: "untested"}
	total := 0
	var titles []string
	for _, status := range reports.Gravity {
		if names := by[status]; len(names) > 0 {
			total += len(names)
			c.Status = status
			titles = append(titles, fmt.Sprintf("%s: %s", judged(status), strings.Join(names, ", ")))
		}
	}
	if total > 0 {
		c.Text, c.Word = fmt.Sprint(total), judged(c.Status)
		if bad := len(by[c.Status]); c.Status != reports.Passed && bad < total {
			c.Text = fmt.Sprintf("%d/%d", bad, total)
		}
		slices.Reverse(titles)
		c.Title = strings.Join(titles, "; ")
	}
	return c
}

// judged returns the word for a status of a requirement, for which an error of a scenario is no verdict.
func judged(status reports.Status) string {
	if status == reports.Error {
		return "not judged"
	}
	return word(status)
}
