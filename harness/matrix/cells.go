package matrix

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// Cell is one scenario on one version of the system and one version of Kubernetes.
type Cell struct {
	// Name is the scenario's name in the matrix. Version and Kubernetes are the versions of the cell.
	Name, Version, Kubernetes string
	// Scenario is the scenario as it runs in the cell. It is nil if it cannot run there; then Why is the reason.
	Scenario *scenarios.Scenario
	Why      string
	// Unplanned: there is a scenario for the cell, but it cannot be planned.
	Unplanned bool
}

// Cells lists all cells of the scenarios: by scenario, then by version of the system, then by version of Kubernetes. It
// returns an error if none of them can run.
func Cells(list []*scenarios.Scenario, axes Axes) ([]Cell, error) {
	if err := axes.check(); err != nil {
		return nil, err
	}
	var cells []Cell
	var errs []error
	runs := 0
	for _, row := range rowsOf(list, axes.System) {
		for i, version := range axes.Versions {
			for j, kubernetes := range axes.Kubernetes {
				cell := Cell{Name: row.name, Version: version, Kubernetes: kubernetes}
				moved, err := newMove(axes, row.scenario, i, j).scenario()
				switch {
				case err != nil:
					cell.Why, cell.Unplanned = err.Error(), errors.As(err, new(*scenarios.Error))
					errs = append(errs, fmt.Errorf("%s: scenario %s, %s on %s: %w", row.scenario.Position, row.name, version,
						kubernetes, err))
				default:
					moved.CaseName = joined(row.caseName, version+" on "+kubernetes)
					cell.Scenario = moved
					runs++
				}
				cells = append(cells, cell)
			}
		}
	}
	if runs == 0 {
		return nil, fmt.Errorf("no scenario can be run on any of the versions:\n%w", errors.Join(errs...))
	}
	return cells, nil
}

// joined combines the name of a scenario's case with the name of a cell.
func joined(caseName, cell string) string {
	if caseName == "" {
		return cell
	}
	return caseName + ", " + cell
}

// row is a scenario that has its own row of cells.
type row struct {
	name, caseName string
	scenario       *scenarios.Scenario
}

// rowsOf lists the scenarios that differ in more than versions. Cases of one scenario that differ only in their first
// versions, and in their names, are one row. Cases that differ only in their names are several.
func rowsOf(list []*scenarios.Scenario, system string) []row {
	var rows []row
	ofTable := map[string]int{}
	known := map[string]map[string]bool{} // the values with versions, by those without
	for _, s := range list {
		key, values := s.Position.String()+" "+relativeCase(s, system), encoded(s, unnamed(s))
		if known[key] != nil && !known[key][values] {
			known[key][values] = true
			continue
		}
		if known[key] == nil {
			known[key] = map[string]bool{values: true}
		}
		ofTable[s.Position.String()]++
		rows = append(rows, row{name: s.Metadata.Name, scenario: s})
	}
	for i, r := range rows {
		if ofTable[r.scenario.Position.String()] > 1 {
			rows[i].name, rows[i].caseName = r.scenario.Title(), r.scenario.CaseName
		}
	}
	return rows
}

// relativeCase encodes the values of a scenario's case. Versions are encoded relative to those of the first state.
func relativeCase(s *scenarios.Scenario, system string) string {
	return encoded(s, versionsOf(s, system).relative(unnamed(s)))
}

// unnamed are the values of a scenario's case without its name.
func unnamed(s *scenarios.Scenario) map[string]any {
	values := maps.Clone(s.Case)
	delete(values, "name")
	return values
}

func encoded(s *scenarios.Scenario, values any) string {
	text, err := json.Marshal(values)
	if err != nil { // impossible: the values came from YAML
		return s.Title()
	}
	return string(text)
}
