package matrix

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/session"
	"github.com/rehearse-dev/rehearse/harness/matrix"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/matrices"
	"github.com/rehearse-dev/rehearse/reports/page"
)

// page of the matrix in the report folder.
const pageFile = "matrix.html"

// run runs the matrix, and writes its reports.
func (s *settings) run(command *cobra.Command, paths []string) error {
	axes, cells, err := s.cells(command, paths)
	if err != nil {
		return err
	}
	run := session.New(command, s.execute, pageFile, paths...)
	defer run.Close()
	plan, err := s.plan(command, cells, run.Progress)
	if err != nil {
		return err
	}
	if err := session.Limit(plan, &run.Options, run.Progress); err != nil {
		return err
	}
	if err := run.Start(plan.Result()); err != nil {
		return err
	}
	failure := run.RunPlan(plan)
	report := reportOf(axes, cells)
	report.Judge(run.Result())
	fmt.Fprintf(command.OutOrStdout(), "\n%s", matrices.Text(report))
	failure = errors.Join(failure, write(s.execute.ReportDir, report))
	code := report.ExitCode()
	if code == cli.ExitOK && reports.ExitCode(run.Result()) != cli.ExitOK {
		code = cli.ExitBroken // something else than a cell went wrong
	}
	return session.End(code, failure)
}

// reportOf is a report of cells of which none was run yet.
func reportOf(axes matrix.Axes, cells []matrix.Cell) *matrices.Report {
	var all []*matrices.Cell
	for _, cell := range cells {
		one := &matrices.Cell{
			Scenario: cell.Name, Version: cell.Version, Kubernetes: cell.Kubernetes, Status: reports.Skipped, Reason: cell.Why,
			Unplanned: cell.Unplanned,
		}
		if cell.Scenario != nil {
			one.Title = cell.Scenario.Title()
		}
		all = append(all, one)
	}
	return matrices.New(axes.System, axes.Versions, axes.Kubernetes, all)
}

func write(dir string, report *matrices.Report) error {
	text, err := page.OfMatrix(report)
	if err != nil {
		return err
	}
	return matrices.Write(dir, report, map[string][]byte{pageFile: text})
}
