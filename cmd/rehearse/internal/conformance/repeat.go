package conformance

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/session"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/conformances"
)

// repeated runs the suite several times, and writes one report.
func (c *suiteRun) repeated(command *cobra.Command) error {
	var list []*conformances.Report
	var failures []error
	err := c.Times(command, c.published(), func(n int, dir string) (*reports.Run, error) {
		if n > 1 {
			var err error
			if c.plan, err = c.newPlan(command, c.suite, cli.ProgressTo(command.ErrOrStderr())); err != nil {
				return nil, err
			}
		}
		c.execute.ReportDir = dir
		report, run, failure, err := c.once(command)
		failures = append(failures, failure)
		if err == nil {
			list = append(list, report)
		}
		return run, err
	})
	return c.together(command, list, errors.Join(append(failures, err)...))
}

// together ends with one report of the runs that were made. A failure hides none of their verdicts.
func (c *suiteRun) together(command *cobra.Command, list []*conformances.Report, failure error) error {
	cut := c.Cut(command, len(list))
	if len(list) == 0 {
		if cut {
			return session.End(cli.ExitInterrupted, nil)
		}
		return cli.Broken(failure)
	}
	report := conformances.Repeated(list)
	if cut {
		report.Interrupt()
	}
	if len(list) < c.Repeat {
		failure = errors.Join(failure, fmt.Errorf("only %d of %d runs were made; the report is about these", len(list),
			c.Repeat))
	}
	return c.finish(command, report, failure, nil)
}
