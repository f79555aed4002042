package matrix

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/matrix"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/matrices"
	"github.com/rehearse-dev/rehearse/reports/page"
	"github.com/rehearse-dev/rehearse/reports/terminal"
)

// page of the matrix in the report folder.
const pageFile = "matrix.html"

// run runs the matrix, and writes its reports.
func (s *settings) run(command *cobra.Command, paths []string) error {
	axes, cells, err := s.cells(command, paths)
	if err != nil {
		return err
	}
	shown := terminal.New(cli.TerminalConfig(command.OutOrStdout(), filepath.Join(s.execute.ReportDir, pageFile)))
	defer shown.Close()
	plan, err := s.plan(command, cells, shown.Progress)
	if err != nil {
		return err
	}
	options := s.execute
	if options.Clusters, err = s.program.AtOnce(plan, options.Clusters, shown.Progress); err != nil {
		return err
	}
	result, err := s.program.Describe(plan.Result(), command, paths...)
	if err != nil {
		return err
	}
	options.Recorder = reports.NewRecorder(result, clock.RealClock{}, shown,
		reports.NewFiles(options.ReportDir, clock.RealClock{}, s.program.Formats(options.ReportDir)...))
	options.Progress, options.Say, options.Environment = shown.Progress, shown.Say, os.Environ()
	failure := harness.Execute(command.Context(), plan, options)
	shown.Close()
	run := options.Recorder.Run()
	report := reportOf(axes, cells)
	report.Judge(run)
	fmt.Fprintf(command.OutOrStdout(), "\n%s", matrices.Text(report))
	failure = errors.Join(failure, write(options.ReportDir, report),
		s.program.Publish(run, options.ReportDir, command.OutOrStdout()))
	return conclude(report, run, failure)
}

// reportOf is a report of cells of which none was run yet.
func reportOf(axes matrix.Axes, cells []matrix.Cell) *matrices.Report {
	var all []*matrices.Cell
	for _, cell := range cells {
		one := &matrices.Cell{
			Scenario: cell.Name, Version: cell.Version, Kubernetes: cell.Kubernetes, Status: reports.Skipped, Reason: cell.Why,
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

// conclude is how the command ends: as its cells say, or as the run does where something else went wrong.
func conclude(report *matrices.Report, run *reports.Run, failure error) error {
	code := report.ExitCode()
	if code == cli.ExitOK && (failure != nil || reports.ExitCode(run) != cli.ExitOK) {
		code = cli.ExitBroken
	}
	switch code {
	case cli.ExitOK:
		return nil
	case cli.ExitInterrupted:
		failure = errors.New("interrupted; the reports say what did not run")
	}
	return &cli.ExitError{Code: code, Err: failure}
}
