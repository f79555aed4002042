package program

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/pastruns"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/compare"
	"github.com/rehearse-dev/rehearse/reports/formats"
	"github.com/rehearse-dev/rehearse/reports/prr"
)

func newReportCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "report",
		Short: "Write reports of finished runs from their run.json",
		Long: `Report writes the reports of a run again, or one report for several runs that belong together
(shards, clusters, machines). Each argument is a run.json or a report folder that contains one. The
file is described in https://github.com/rehearse-dev/rehearse/blob/main/docs/run.md.`,
		Example: `  rehearse report html rehearse-report
  rehearse report markdown shard-1/run.json shard-2/run.json
  rehearse report diff before/run.json after/run.json`,
	}
	command.AddCommand(newReportDiffCommand(), newReportPRRCommand())
	for _, format := range formats.All() {
		if format.Name != "" {
			command.AddCommand(newViewCommand(format))
		}
	}
	return command
}

// linkFrom returns the relative link from a page to a file; "" if there is none, or if the page is standard output,
// whose place is unknown.
func linkFrom(page, file string) string {
	if page == stdout || file == "" {
		return ""
	}
	from, err1 := filepath.Abs(filepath.Dir(page))
	to, err2 := filepath.Abs(file)
	link, err3 := filepath.Rel(from, to)
	if errors.Join(err1, err2, err3) != nil {
		return ""
	}
	return filepath.ToSlash(link)
}

// stdout is the name of standard output.
const stdout = "-"

// newViewCommand is a command that writes one view of a run to its output.
func newViewCommand(format formats.Format) *cobra.Command {
	output := cmp.Or(format.Output, stdout)
	command := &cobra.Command{
		Use: format.Name + " RUN.JSON|FOLDER...", Short: format.Short, Args: cli.Named("a run.json, or a report " +
			"folder that contains one"),
		RunE: func(command *cobra.Command, args []string) error {
			run, files, err := pastruns.Read(args...)
			if err != nil {
				return err
			}
			data, err := format.Encode(run, formats.Folder{
				Files: files, Link: func(name string) string { return linkFrom(output, files.Path(name)) },
			})
			if err != nil {
				return err
			}
			if output == stdout {
				_, err = command.OutOrStdout().Write(data)
				return err
			}
			if err := reports.ReplaceFile(output, data); err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "report: %s\n", output)
			return nil
		},
	}
	command.Flags().StringVarP(&output, "output", "o", output, "file to write; - is standard output")
	return command
}

func newReportDiffCommand() *cobra.Command {
	return &cobra.Command{
		Use: "diff OLD NEW", Short: "Compare two runs of the same scenarios",
		Long: `Diff shows scenarios that no longer pass, that are new, that pass now, and that take at least 50 %
and one second longer.

Exit codes: 0 nothing got worse; 1 a scenario no longer passes, is missing, or fails and had no
verdict before, or is new and did not run; 2 a run cannot be read, or only one of them is a shard.
Times do not affect the exit code.`,
		Args: cobra.ExactArgs(2),
		RunE: cli.Comparison[*reports.Run, compare.Result]{
			Read: func(path string) (*reports.Run, error) {
				run, _, err := pastruns.Read(path)
				return run, err
			},
			Compare: compareRuns,
			Fails:   compare.Result.Worsened,
		}.Run,
	}
}

// compareRuns compares whole runs, or the same shard of both.
func compareRuns(before, after *reports.Run) (compare.Result, error) {
	one, other := reports.PartOf(before), reports.PartOf(after)
	if one != other {
		return compare.Result{}, fmt.Errorf("compare runs: their scenarios differ; merge the shards first (rehearse "+
			"merge)\nOLD: %s\nNEW: %s", cmp.Or(one, "a whole run"), cmp.Or(other, "a whole run"))
	}
	return compare.Runs(before, after), nil
}

func newReportPRRCommand() *cobra.Command {
	var kep string
	command := &cobra.Command{
		Use: "prr --kep NUMBER RUN.JSON|FOLDER...", Short: "Answer the questions of a production readiness review from a run",
		Long: `Prr writes Markdown to paste into an enhancement: the questions of its production readiness review
under their exact headings, with answers from the scenarios that have the label kep: versions,
gates, steps, what was seen, and the command. Questions that no scenario answers stay open, with a
hint what would answer them.`,
		Example: `  rehearse report prr --kep 5311 rehearse-report`,
		Args:    cli.Named("a run.json, or a report folder that contains one"),
		RunE: func(command *cobra.Command, args []string) error {
			run, _, err := pastruns.Read(args...)
			if err != nil {
				return err
			}
			text, err := prr.Markdown(run, kep)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(command.OutOrStdout(), text)
			return err
		},
	}
	command.Flags().StringVar(&kep, "kep", "", "number of the enhancement: 5311")
	_ = command.MarkFlagRequired("kep") // the flag was just defined
	return command
}
