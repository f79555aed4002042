// Package matrices reports on scenarios on every version of a system and of Kubernetes, and compares two reports.
package matrices

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// Unstable is the status of a cell whose results differ between runs. It is not passed.
const Unstable reports.Status = "unstable"

// known returns a valid status of a cell. Any other status is not run.
func known(status reports.Status) reports.Status {
	if status == Unstable {
		return status
	}
	return status.OrNotRun()
}

// statuses returns the statuses of cells in the order in which they are counted.
func statuses() []reports.Status {
	all := reports.Statuses()
	return slices.Insert(all, slices.Index(all, reports.Failed)+1, Unstable)
}

// format is the version of matrix.json that this program writes.
const format = 1

// Report is the result of each scenario on each version of a system and of Kubernetes. It is matrix.json.
type Report struct {
	reports.Head

	// Interrupted says that the run was interrupted before its end.
	Interrupted bool `json:"interrupted,omitempty"`
	// Shard says which part of a matrix this is; nil for all of it. A part contains only its own cells. Cells that
	// cannot run belong to the first part.
	Shard *reports.Shard `json:"shard,omitempty"`
	// System whose versions are the rows.
	System string `json:"system"`
	// Versions of the system, and of Kubernetes, in the order in which they were given.
	Versions   []string `json:"versions"`
	Kubernetes []string `json:"kubernetes"`
	// Scenarios by their names, in the order of their files.
	Scenarios []string `json:"scenarios"`
	// Runs is how many runs were merged, if the matrix was repeated.
	Runs int `json:"runs,omitempty"`
	// Broken is what failed on clusters after their cells had been judged, such as the deletion of a cluster.
	Broken []string `json:"broken,omitempty"`
	// Cells, for each scenario one for each version of the system and of Kubernetes.
	Cells []*Cell `json:"cells"`
}

// Cell is the result of a scenario on one version of the system and of Kubernetes.
type Cell struct {
	Scenario   string `json:"scenario"`
	Version    string `json:"version"`
	Kubernetes string `json:"kubernetes"`
	// Status is passed, known, failed, error (it could not be judged), skipped (it was left out on purpose), notRun, or
	// unstable (several runs do not agree).
	Status reports.Status `json:"status"`
	// Runs are the statuses of the runs, if they differ.
	Runs []reports.Status `json:"runs,omitempty"`
	// Reason of the status, if it is not passed.
	Reason string `json:"reason,omitempty"`
	// Unplanned says that the scenario could not be planned for these versions: the cell is skipped, and the exit code
	// says that something could not be tested.
	Unplanned bool `json:"unplanned,omitempty"`
	// Title of the scenario in the run; "" if it is not part of the run.
	Title string `json:"title,omitempty"`
	// Path is the states of the scenario's cluster.
	Path []string `json:"path,omitempty"`
	// Took is how long the scenario took by itself, in seconds: without transitions and without waiting for others.
	Took float64 `json:"seconds,omitempty"`
}

// Judge sets each cell's result from a run.
func (r *Report) Judge(run *reports.Run) {
	r.Command, r.Program, r.Build = run.Command, run.Program, run.Build
	r.Started, r.Finished, r.Interrupted, r.Broken = run.Started, run.Finished, run.Interrupted, nil
	cells := map[string]*Cell{}
	for _, cell := range r.Cells {
		if cell.Title != "" {
			cell.Status, cell.Reason = reports.NotRun, "it is not part of the run"
			cells[cell.Title] = cell
		}
	}
	for _, track := range run.Tracks {
		step, shown := broken(run, track), false
		for _, s := range track.Scenarios {
			cell := cells[s.Name]
			if cell == nil {
				continue
			}
			cell.Status, cell.Reason, cell.Path = s.Status.OrNotRun(), reports.Headline(run, track, s), track.Path
			if step != nil && cell.Status == reports.NotRun {
				cell.Status, cell.Reason, shown = reports.Error, brokenText(step), true
			}
			if cell.Status != reports.Passed && cell.Reason == "" {
				cell.Reason = "it was not reached"
			}
			cell.Took = time.Duration(s.Took).Seconds()
		}
		if step != nil && !shown {
			r.Broken = append(r.Broken, brokenText(step))
		}
	}
}

func brokenText(step *reports.Step) string {
	return reports.SetupTitle(step) + ": " + plain.OneLine(cmp.Or(step.Message, "it did not end"))
}

// broken returns the failed setup step of a track, which prevents a verdict on its scenarios. An example is a version
// of the system that does not start. It returns nil if none failed.
func broken(run *reports.Run, track *reports.Track) *reports.Step {
	for _, step := range track.Setup {
		if reports.SetupBroken(run, step) {
			return step
		}
	}
	return nil
}

// Read reads matrix.json.
func Read(data []byte) (*Report, error) {
	var r Report
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("read a matrix: %w", err)
	}
	if r.Format != format {
		return nil, fmt.Errorf("read a matrix: its format is %d, and this program reads %d", r.Format, format)
	}
	if len(r.Cells) == 0 && r.Shard == nil {
		return nil, errors.New("read a matrix: it has no cells")
	}
	return &r, nil
}

// New returns a report of cells without results.
func New(system string, versions, kubernetes []string, cells []*Cell) *Report {
	r := &Report{
		Head: reports.Head{Format: format}, System: system, Versions: versions, Kubernetes: kubernetes,
		Cells: cells,
	}
	for _, cell := range cells {
		if !slices.Contains(r.Scenarios, cell.Scenario) {
			r.Scenarios = append(r.Scenarios, cell.Scenario)
		}
	}
	return r
}

// Cell returns the cell of a scenario, or nil.
func (r *Report) Cell(scenario, version, kubernetes string) *Cell {
	for _, cell := range r.Cells {
		if cell.Scenario == scenario && cell.Version == version && cell.Kubernetes == kubernetes {
			return cell
		}
	}
	return nil
}

// count returns how many cells have a status.
func (r *Report) count(status reports.Status) int {
	return plain.Count(r.Cells, func(cell *Cell) bool { return cell.Status == status })
}

// unplanned returns how many cells could not be planned.
func (r *Report) unplanned() int {
	return plain.Count(r.Cells, func(cell *Cell) bool { return cell.Unplanned })
}

// Sentence returns the result in one sentence.
func (r *Report) Sentence() string {
	parts := []string{}
	for _, status := range statuses() {
		if n := r.count(status); n > 0 || status == reports.Passed {
			parts = append(parts, fmt.Sprintf("%d %s", n, Word(status)))
		}
	}
	text := fmt.Sprintf("%s: %s, %s on %d of Kubernetes: %s", r.System, plain.Plural(len(r.Cells), "cell"),
		plain.Plural(len(r.Versions), "version"), len(r.Kubernetes), strings.Join(parts, ", "))
	if n := r.unplanned(); n > 0 {
		text += fmt.Sprintf("; %d of them could not be planned", n)
	}
	if n := len(r.Broken); n > 0 {
		text += "; " + plain.Plural(n, "step") + " on clusters failed"
	}
	if r.Runs > 0 {
		text += "; " + plain.Plural(r.Runs, "run") + " of each"
	}
	if r.Shard != nil {
		text += fmt.Sprintf("; shard %d/%d", r.Shard.Number, r.Shard.Of)
	}
	if r.Interrupted {
		text += "; interrupted"
	}
	return text
}

// Word returns a cell's status for a reader.
func Word(status reports.Status) string {
	switch known(status) {
	case reports.Skipped:
		return "untested"
	case reports.Error:
		return "not judged"
	case Unstable:
		return string(Unstable)
	default:
		return reports.StatusWord(status)
	}
}

// ExitCode depends on the cells' statuses: 130 interrupted, 2 nothing was tested, 1 a cell failed or is unstable, 3
// one could not be planned, could not be judged or did not run, or a step on a cluster failed, and otherwise 0.
func (r *Report) ExitCode() int {
	switch {
	case r.Interrupted:
		return reports.ExitInterrupted
	case r.count(reports.Skipped) == len(r.Cells) && r.Shard == nil:
		return reports.ExitInput
	case r.count(reports.Failed)+r.count(Unstable) > 0:
		return reports.ExitFailed
	case r.count(reports.Error)+r.count(reports.NotRun)+r.unplanned()+len(r.Broken) > 0:
		return reports.ExitError
	default:
		return reports.ExitPassed
	}
}
