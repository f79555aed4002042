package page

import (
	"cmp"
	"slices"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
	"github.com/rehearse-dev/rehearse/reports/matrices"
)

// OfMatrix returns the page of a matrix of versions: its tables, and why cells are not passed. The full scenarios are
// in report.html beside it.
func OfMatrix(r *matrices.Report) ([]byte, error) {
	v := &view{
		Title: "Rehearse: " + r.Sentence(), Sentence: r.Sentence(), Description: r.Sentence(),
		Verdict:   verdictOf(r.ExitCode()),
		Reproduce: r.Command,
		Facts:     times(r.Started, r.Finished, reports.Elapsed(r.Started, r.Finished)),
		Notes:     []string{"What each scenario did: that is in " + File + ", in the same folder."},
	}
	ranks := map[string]int{}
	for i, status := range matrices.Worst() {
		ranks[matrices.Word(status)] = i
	}
	for _, scenario := range r.Scenarios {
		v.Matrices = append(v.Matrices, scenarioCells(r, scenario))
		for _, reason := range r.Reasons(scenario) {
			v.Findings = append(v.Findings, finding{
				Status: shade(reason.Status), Severity: matrices.Word(reason.Status), Title: scenario, Count: "Cells",
				Objects: []string{reason.Where}, Lines: []findingLine{{"Reason", reason.Text, ""}},
			})
		}
	}
	for _, text := range r.Broken {
		v.Findings = append(v.Findings, finding{
			Status: reports.Error, Severity: matrices.Word(reports.Error), Title: "a step on a cluster failed",
			Lines: []findingLine{{"Reason", text, ""}},
		})
	}
	slices.SortStableFunc(v.Findings, func(a, b finding) int { return cmp.Compare(ranks[a.Severity], ranks[b.Severity]) })
	return render(v)
}

// untested reports whether a finding only says why cells were left out.
func (f finding) untested() bool { return f.Severity == matrices.Word(reports.Skipped) }

// Shown are the findings that the page shows as cards.
func (v *view) Shown() []finding {
	return slices.DeleteFunc(slices.Clone(v.Findings), finding.untested)
}

// Untested are the findings that the page folds.
func (v *view) Untested() []finding {
	return slices.DeleteFunc(slices.Clone(v.Findings), func(f finding) bool { return !f.untested() })
}

func scenarioCells(r *matrices.Report, scenario string) matrix {
	m := matrix{Title: scenario, Corner: r.System, Text: "Versions of " + r.System + ", and of Kubernetes."}
	for _, kubernetes := range r.Kubernetes {
		m.Columns = append(m.Columns, column{Name: kubernetes})
	}
	for _, version := range r.Versions {
		row := matrixRow{Name: version}
		for _, kubernetes := range r.Kubernetes {
			one := cell{Text: matrices.Word(reports.Skipped)}
			if r.Shard != nil {
				one.Text = "another shard"
			}
			if c := r.Cell(scenario, version, kubernetes); c != nil {
				one = cell{Status: shade(c.Status), Text: matrices.Word(c.Status), Title: plain.OneLine(c.Reason)}
				if c.Title != "" {
					one.Link = File + "#" + anchor(c.Title)
				}
			}
			row.Cells = append(row.Cells, one)
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// shade returns the status whose colour and mark a cell gets: an unstable cell looks like a failed one.
func shade(status reports.Status) reports.Status {
	if status == matrices.Unstable {
		return reports.Failed
	}
	return status.OrNotRun()
}
