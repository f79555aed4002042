package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/ci"
	"github.com/rehearse-dev/rehearse/reports/page"
)

// Report is a report on something other than a run of scenarios.
type Report[R interface {
	ExitCode() int
	Fail(err error)
}] struct {
	// Of is the content, and Dir the report folder.
	Of  R
	Dir string
	// Write writes all files except the page, whose content is Page. Markdown is for a CI job's summary.
	Write    func(dir string, of R) error
	Page     func(of R) ([]byte, error)
	Markdown func(of R) string
	// Text is for a terminal with so many columns; 0 if lines may have any length. If it is nil, Finish prints none.
	Text func(of R, columns int) string
}

// Begin locks the report folder until end is called, and writes the report of what is planned. It replaces all files of
// an earlier report, which could otherwise look like the result if the process is killed.
func (r Report[R]) Begin(planned R) (end func(), err error) {
	unlock, err := reports.LockFolder(r.Dir)
	if err != nil {
		return nil, cli.Broken(err)
	}
	r.Of = planned
	if err := r.write(); err != nil {
		unlock()
		return nil, cli.Broken(err)
	}
	return unlock, nil
}

// Finish adds the error that ended the work to the report, and prints and writes the report. It passes it to the CI
// system, prints its path, and ends the command. The failure does not hide a finding: that decides the exit code.
func (r Report[R]) Finish(command *cobra.Command, failure error) error {
	r.Of.Fail(failure)
	if r.Text != nil {
		fmt.Fprint(cli.Guarded(command.OutOrStdout()), r.Text(r.Of, columns(command)))
	}
	err := r.write()
	if err == nil {
		err = ci.HandOver(r.Markdown(r.Of), ci.Report{Dir: r.Dir}, os.Getenv)
		fmt.Fprintf(command.OutOrStdout(), "report: %s\n", filepath.Join(r.Dir, page.File))
	}
	failure = errors.Join(failure, err)
	if code := r.Of.ExitCode(); code != cli.ExitOK {
		return &cli.ExitError{Code: code, Err: failure}
	}
	return cli.Broken(failure)
}

// columns returns the width of the terminal that a command prints to; 0 if that is none.
func columns(command *cobra.Command) int {
	config := cli.TerminalConfig(command.OutOrStdout(), "")
	if !config.TTY || config.Width == nil {
		return 0
	}
	return config.Width()
}

func (r Report[R]) write() error {
	if err := r.Write(r.Dir, r.Of); err != nil {
		return err
	}
	text, err := r.Page(r.Of)
	if err != nil {
		return err
	}
	return reports.ReplaceFile(filepath.Join(r.Dir, page.File), text)
}
