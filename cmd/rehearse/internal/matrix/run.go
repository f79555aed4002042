package matrix

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/session"
	"github.com/rehearse-dev/rehearse/harness/matrix"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/ci"
	"github.com/rehearse-dev/rehearse/reports/matrices"
	"github.com/rehearse-dev/rehearse/reports/page"
)

// PageFile is the page of the matrix in the report folder.
const PageFile = "matrix.html"

// made is a matrix that has run.
type made struct {
	run    *reports.Run
	report *matrices.Report
	// failure is an error that the report does not contain.
	failure error
}

// run runs the matrix as often as the flags say, and writes its reports.
func (s *settings) run(command *cobra.Command, paths []string) error {
	if err := s.RepeatFlag.Check(s.Shard); err != nil {
		return err
	}
	axes, cells, err := s.cells(command, paths)
	if err != nil {
		return err
	}
	once := func(dir string) (*made, error) { return s.once(command, paths, axes, cells, dir) }
	of := ci.Report{Dir: s.execute.ReportDir}
	dirs, names := []string{of.Dir}, []string{PageFile, matrices.File, matrices.MarkdownFile}
	if err := s.check(command, paths, cells); err != nil {
		return session.NotStarted(err, dirs, names...)
	}
	if err := session.RemoveReports(dirs, names...); err != nil {
		return err
	}
	if s.Repeat == 1 {
		one, err := once(of.Dir)
		if err != nil {
			return err
		}
		one.failure = errors.Join(one.failure, session.Publish(command, one.run, of))
		return end(one)
	}
	var all []*made
	err = s.Times(command, of, func(_ int, dir string) (*reports.Run, error) {
		one, err := once(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
		return one.run, nil
	})
	cut := s.Cut(command, len(all))
	if len(all) == 0 {
		if cut && err == nil {
			return session.End(cli.ExitInterrupted, nil)
		}
		return err
	}
	whole := repeated(all)
	whole.report.Interrupted = whole.report.Interrupted || cut
	fmt.Fprintf(cli.Guarded(command.OutOrStdout()), "\n%s", matrices.Text(whole.report))
	whole.failure = errors.Join(whole.failure, err, Write(s.execute.ReportDir, whole.report))
	return end(whole)
}

// check plans the matrix, to find mistakes in the input before any report is removed.
func (s *settings) check(command *cobra.Command, paths []string, cells []matrix.Cell) error {
	run := session.New(command, s.execute, PageFile, paths...)
	defer run.Close()
	plan, err := s.plan(command, slices.Clone(cells), run.Progress)
	if err != nil {
		return err
	}
	return session.Limit(plan, &run.Options, func(string, ...any) {}) // the run says it, too
}

// once runs the matrix once, and writes its reports into a folder.
func (s *settings) once(command *cobra.Command, paths []string, axes matrix.Axes, cells []matrix.Cell,
	dir string,
) (*made, error) {
	execute := s.execute
	execute.ReportDir = dir
	cells = slices.Clone(cells) // the plan marks those that it leaves out, this time
	run := session.New(command, execute, PageFile, paths...)
	defer run.Close()
	plan, err := s.plan(command, cells, run.Progress)
	if err != nil {
		return nil, err
	}
	if err := session.Limit(plan, &run.Options, run.Progress); err != nil {
		return nil, err
	}
	run.SayIdle(plan, s.Shard)
	if err := run.Start(plan.Result(), s.suites); err != nil {
		return nil, err
	}
	one := &made{run: run.Result(), report: reportOf(axes, cells)}
	one.report.OfShard(one.run)
	one.report.Judge(one.run)
	if err := Write(dir, one.report); err != nil { // a run that dies leaves this
		return nil, cli.Broken(err)
	}
	failure := run.RunPlan(plan)
	one.run = run.Result()
	one.report.Judge(one.run)
	fmt.Fprintf(cli.Guarded(command.OutOrStdout()), "\n%s", matrices.Text(one.report))
	one.failure = errors.Join(failure, Write(dir, one.report))
	return one, nil
}

// repeated merges several runs of a matrix into one.
func repeated(all []*made) *made {
	whole := &made{run: all[0].run}
	var list []*matrices.Report
	for _, one := range all {
		list = append(list, one.report)
		whole.failure = errors.Join(whole.failure, one.failure)
		if reports.ExitCode(whole.run) == cli.ExitOK {
			whole.run = one.run
		}
	}
	whole.report = matrices.Repeated(list)
	return whole
}

// end returns how the command ends.
func end(of *made) error { return session.End(ExitCode(of.report, of.run), of.failure) }

// ExitCode returns the exit code for a matrix and its run. If every cell is well, the run may still have failed.
func ExitCode(report *matrices.Report, run *reports.Run) int {
	code := report.ExitCode()
	if code == cli.ExitOK && reports.ExitCode(run) != cli.ExitOK && len(report.Cells) > 0 {
		code = cli.ExitBroken
	}
	return code
}

// reportOf returns a report of cells that have not run yet.
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

// Write writes a matrix into a report folder.
func Write(dir string, report *matrices.Report) error {
	text, err := page.OfMatrix(report)
	if err != nil {
		return err
	}
	return matrices.Write(dir, report, map[string][]byte{PageFile: text})
}
