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
type Report[R interface{ ExitCode() int }] struct {
	// Of is the content, and Dir the report folder.
	Of  R
	Dir string
	// Write writes all files except the page, whose content is Page. Markdown is for a CI job's summary.
	Write    func(dir string, of R) error
	Page     func(of R) ([]byte, error)
	Markdown func(of R) string
}

// Finish writes a report, passes it to the CI system, prints its path, and ends the command. failure is an error that
// the report does not contain.
func (r Report[R]) Finish(command *cobra.Command, failure error) error {
	if err := r.write(); err != nil {
		return cli.Broken(errors.Join(failure, err))
	}
	fmt.Fprintf(command.OutOrStdout(), "report: %s\n", filepath.Join(r.Dir, page.File))
	if failure != nil {
		return cli.Broken(failure)
	}
	if code := r.Of.ExitCode(); code != cli.ExitOK {
		return &cli.ExitError{Code: code}
	}
	return nil
}

func (r Report[R]) write() error {
	if err := r.Write(r.Dir, r.Of); err != nil {
		return err
	}
	text, err := r.Page(r.Of)
	if err != nil {
		return err
	}
	if err := reports.ReplaceFile(filepath.Join(r.Dir, page.File), text); err != nil {
		return err
	}
	return ci.HandOver(r.Markdown(r.Of), r.Dir, os.Getenv)
}
