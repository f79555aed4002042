package page

import (
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
		Facts:     []fact{{"Started", r.Started.UTC().Format("2006-01-02 15:04:05 MST")}},
		Notes:     []string{"What each scenario did: that is in " + File + ", in the same folder."},
	}
	if !r.Finished.IsZero() {
		v.Facts = append(v.Facts, fact{"Took", plain.Duration(reports.Elapsed(r.Started, r.Finished))})
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
	return render(v)
}

func scenarioCells(r *matrices.Report, scenario string) matrix {
	m := matrix{Title: scenario, Corner: r.System, Text: "Versions of " + r.System + ", and of Kubernetes."}
	for _, kubernetes := range r.Kubernetes {
		m.Columns = append(m.Columns, column{Name: kubernetes})
	}
	for _, version := range r.Versions {
		row := matrixRow{Name: version}
		for _, kubernetes := range r.Kubernetes {
			one := cell{}
			if c := r.Cell(scenario, version, kubernetes); c != nil {
				one = cell{Status: shade(c.Status), Text: matrices.Word(c.Status), Title: plain.OneLine(c.Reason)}
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
